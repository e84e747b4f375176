// A lesson in place of the game: its positions on the board, their explanation,
// and the task. The rules are the engine's.

import { h, replaceChildren } from './dom';
import { FAMILIES } from './families';
import { button } from './parts';
import { LESSONS, type LessonStep } from './lessons';
import { choose } from './selection';
import type {
  Action,
  Engine,
  Game,
  HillIndex,
  Position,
  VariantInfo,
} from '../engine/api';

export interface LessonEvents {
  changed(): void; // something needs drawing
  // A hill was pointed at that does not do, for this reason; null: no legal
  // action does it.
  refused(hill: HillIndex, chosen: HillIndex | null, reason: string | null): void;
  leave(): void;
  play(variant: VariantInfo): void; // against the weakest computer
}

const FIELDS = 9; // of a position as text
const FOLLOWS = ['-', '-', '0,0', '0', '-', '-']; // the last ones, if left out

// Returns the position of a step as the engine reads it.
export function positionText(position: string): string {
  const fields = position.split(' ');
  return [...fields, ...FOLLOWS.slice(fields.length - FIELDS)].join(' ');
}

export class Lesson {
  isOpen = false;
  since = 0; // Session.changes when it was opened
  chosen: HillIndex | null = null;
  game: Game | null = null; // with the position on the board
  readonly bar = h('div.turn-bar.lesson.red', { role: 'status' });
  readonly card = h('section.card.lesson', { 'aria-label': 'Lesson' });
  readonly tools = h('div.lesson-tools.lesson');
  private variant: VariantInfo;
  private at = 0; // which step
  private isDone = false; // the task of the step
  private asked = 0; // of the engine; answers to an earlier question are dropped

  constructor(
    private readonly engine: Engine,
    private readonly events: LessonEvents,
  ) {
    this.variant = engine.info.variants[0]!;
  }

  private get steps(): readonly LessonStep[] {
    return LESSONS[this.variant.family];
  }

  get step(): LessonStep {
    return this.steps[this.at]!;
  }

  // Whether the step has a task on the board.
  get isOn(): boolean {
    return this.game !== null && this.step.task !== undefined && !this.isDone;
  }

  async open(variant: VariantInfo, since: number): Promise<void> {
    this.isOpen = true;
    this.since = since;
    this.variant = variant;
    this.game = null;
    await this.goTo(0);
  }

  close(): void {
    this.isOpen = false;
    ++this.asked;
  }

  forget(): void {
    this.chosen = null;
    this.events.changed();
  }

  pointAt(hill: HillIndex): void {
    if (this.isOn) this.act(hill, this.chosen);
  }

  drag(from: HillIndex, to: HillIndex): void {
    if (this.isOn) this.act(to, from);
  }

  play(action: Action): void {
    if (this.isOn) void this.try(action, action.to!);
  }

  private act(hill: HillIndex, chosen: HillIndex | null): void {
    const choice = choose(this.game!.position, chosen, hill);
    switch (choice.kind) {
      case 'play':
        void this.try(choice.action, hill);
        break;
      case 'choose':
        this.chosen = choice.hill;
        this.events.changed();
        break;
      default:
        this.chosen = null;
        this.events.changed();
        this.events.refused(hill, chosen, null);
    }
  }

  private async try(action: Action, hill: HillIndex): Promise<void> {
    const { good, hint } = this.step;
    this.chosen = null;
    if (good !== undefined && !good.includes(action.notation)) {
      this.events.changed();
      this.events.refused(hill, null, hint ?? 'Legal, but it does something else.');
      return;
    }
    const { position } = this.game!;
    if (!(await this.show(`${position.text} ${action.notation}`))) return;
    this.isDone = true;
    const played = { action, seat: position.seat!, side: position.side! };
    this.game = { ...this.game!, actions: [played], ply: 1 };
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
    this.isDone = false;
    this.chosen = null;
    const { position } = this.step;
    const text = position === '' ? null : positionText(position);
    if (text === null || (await this.show(text))) this.render();
  }

  // Shows the position of a text. Returns whether it is still wanted.
  private async show(text: string): Promise<boolean> {
    const question = ++this.asked;
    const position: Position = await this.engine.positionOf(text);
    if (question !== this.asked) return false;
    const id = position.text.split(' ')[0];
    const { variants } = this.engine.info;
    this.game = {
      variant: variants.find((variant) => variant.id === id)!,
      options: {},
      start: null,
      actions: [],
      ply: 0,
      position,
    };
    return true;
  }

  private render(): void {
    const { task, text, after } = this.step;
    const { steps, at } = this;
    const isLast = at === steps.length - 1;
    const waits = task !== undefined && !this.isDone;
    replaceChildren(
      this.bar,
      h('span.phase', `${at + 1} of ${steps.length}`),
      h('strong.who', waits ? 'Your turn' : this.isDone ? 'Well done' : 'Look'),
      h('span.request',
        waits ? task : this.isDone ? (after ?? '') : 'Read, then press Next.'),
    );
    replaceChildren(
      this.card,
      h('header', h('h2', `Lesson: ${FAMILIES[this.variant.family].title}`)),
      h('p', text),
    );
    const primary = { class: 'primary' };
    const play = (): void => this.events.play(this.variant);
    const next = isLast
      ? button('lesson-play', 'Play Computer 1', play, primary)
      : button('lesson-next', 'Next', () => void this.goTo(at + 1), primary);
    next.disabled = waits;
    const focused = this.tools.contains(document.activeElement);
    replaceChildren(
      this.tools,
      button('lesson-leave', 'Leave the lesson', () => this.events.leave()),
      at > 0 && button('lesson-back', 'Back', () => void this.goTo(this.before)),
      next,
    );
    if (focused && !next.disabled) next.focus();
    this.events.changed();
  }
}
