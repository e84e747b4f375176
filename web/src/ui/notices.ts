// Notices: to screen readers (a polite live region) and, for a while, in a toast.

import { h, replaceChildren } from './dom';

const TOAST_MS = 5000; // at least
const MS_A_LETTER = 65;

export class Notices {
  private readonly live = h('p', {
    class: 'visually-hidden',
    id: 'announcements',
    role: 'status',
    'aria-live': 'polite',
  });
  private readonly toast = h('p', { class: 'toast', role: 'alert' });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.body.append(this.live, this.toast);
  }

  announce(sentence: string): void {
    this.live.textContent = sentence;
  }

  show(sentence: string, isError = false): void {
    clearTimeout(this.timer);
    replaceChildren(this.toast, sentence);
    this.toast.classList.add('shown');
    this.toast.classList.toggle('error', isError);
    this.timer = setTimeout(
      () => this.toast.classList.remove('shown'),
      Math.max(
        isError ? 2 * TOAST_MS : TOAST_MS,
        MS_A_LETTER * sentence.length,
      ),
    );
  }

  showError(error: unknown): void {
    this.show(error instanceof Error ? error.message : String(error), true);
  }
}
