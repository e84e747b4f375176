// A lesson in place of the game: its positions on the board, their explanation,
// and the task.

import { h, replaceChildren } from './dom';
import type { App } from './app';
import { Exercise } from './exercise';
import { FAMILIES } from './families';
import { button } from './parts';
import { LESSONS, type LessonStep } from './lessons';
import type { Action, HillIndex } from '../engine/api';

// Players who see one action ahead lose to the weakest computer; with the reply,
// they beat it.
const ADVICE =
  'In a game, look at what the other side can do next before you act.';

export class Lesson extends Exercise {
  private at = 0; // which step
  private isShown = false; // the position of the step, on the board
  private isDone = false; // the task of the step

  constructor(app: App) {
    super(app, 'Lesson');
    this.bar.classList.add('red');
  }

  private get steps(): readonly LessonStep[] {
    return LESSONS[this.variant.family];
  }

  get step(): LessonStep {
    return this.steps[this.at]!;
  }

  get personToMove(): boolean {
    return this.isShown && this.step.task !== undefined && !this.isDone;
  }

  protected begin(): Promise<void> {
    return this.goTo(0);
  }

  protected async try(action: Action, hill: HillIndex): Promise<void> {
    const { good, hint } = this.step;
    if (good !== undefined && !good.includes(action.notation)) {
      this.app.changed();
      this.app.board.tell(hill, hint ?? 'Legal, but it does something else.');
      return;
    }
    await this.playOn(action.notation);
    this.isDone = true;
    this.render();
  }

  // The step before this one that has a position of its own.
  private get before(): number {
    let step = this.at - 1;
    while (this.steps[step]!.position === '') --step;
    return step;
  }

  private async goTo(step: number): Promise<void> {
    this.at = step;
    this.isShown = this.isDone = false;
    this.chosen = null;
    const { position } = this.step;
    if (position !== '') await this.put(position);
    this.isShown = true;
    this.render();
  }

  private render(): void {
    const { task, text, after } = this.step;
    const { steps, at } = this;
    const { family } = this.variant;
    const isLast = at === steps.length - 1;
    const waits = task !== undefined && !this.isDone;
    this.showBar(
      `${at + 1} of ${steps.length}`,
      waits ? 'Your turn' : this.isDone ? 'Well done' : 'Look',
      waits ? task : this.isDone ? (after ?? '') : 'Read, then press Next.',
    );
    replaceChildren(
      this.card,
      h('header', h('h2', `Lesson: ${FAMILIES[family].title}`)),
      h('p', text),
      isLast && h('p', ADVICE),
    );
    const { app } = this;
    const primary = { class: 'primary' };
    const next = isLast
      ? button('lesson-play', 'Play Computer 1', () =>
          app.playAfterLesson(family), primary)
      : button('lesson-next', 'Next', () => void this.goTo(at + 1), primary);
    next.disabled = waits;
    this.showTools(
      button('lesson-leave', 'Leave the lesson', () => app.leave()),
      at > 0 && button('lesson-back', 'Back', () => void this.goTo(this.before)),
      next,
    );
    app.changed();
  }
}
