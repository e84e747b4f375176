// Questions of which only the latest counts.

export class Latest {
  private asked = 0;

  // Waits for an answer: for ever, if another question is asked meanwhile or
  // this one is dropped.
  async answer<T>(answer: Promise<T>): Promise<T> {
    const question = ++this.asked;
    try {
      return await answer;
    } finally {
      if (question !== this.asked) await new Promise(() => {});
    }
  }

  drop(): void {
    ++this.asked;
  }
}
