// A task on the board in place of the game: a lesson or a puzzle. The rules are
// the engine's.

import type { App } from './app';
import { h, replaceChildren, type Child } from './dom';
import { Latest } from '../latest';
import { Picker, type PickerEvents } from './selection';
import type {
  Action, Engine, Game, HillIndex, Position, VariantInfo,
} from '../engine/api';

export abstract class Exercise extends Picker {
  isOpen = false;
  since = 0; // Session.changes when it was opened
  game: Game | null = null; // with the position on the board
  variant: VariantInfo;
  readonly bar = h('div.turn-bar.exercise', { role: 'status' });
  readonly card: HTMLElement;
  readonly tools = h('div.exercise-tools.exercise');
  protected readonly engine: Engine;
  protected readonly events: PickerEvents;
  protected readonly latest = new Latest(); // of the questions to the engine

  constructor(protected readonly app: App, name: string) {
    super();
    this.engine = app.engine;
    this.events = app;
    this.variant = this.engine.info.variants[0]!;
    this.card = h('section.card.exercise', { 'aria-label': name });
    this.close();
  }

  get position(): Position {
    return this.game!.position;
  }

  // `hill` was pointed at last.
  protected abstract try(action: Action, hill: HillIndex): Promise<void>;

  protected abstract begin(): Promise<void>;

  get rules(): Pick<Game, 'variant' | 'options'> {
    return { variant: this.variant, options: {} };
  }

  // Begins for the variant of a game.
  async open({ variant }: Game, since: number): Promise<void> {
    this.since = since;
    this.variant = variant;
    this.game = null;
    this.show(true);
    await this.begin();
  }

  close(): void {
    this.show(false);
    this.latest.drop();
  }

  private show(isOpen: boolean): void {
    this.isOpen = isOpen;
    for (const part of [this.bar, this.card, this.tools]) part.hidden = !isOpen;
  }

  // Shows where in the exercise one is, who is to act, and what to do.
  protected showBar(phase: string, who: string, request: string): void {
    replaceChildren(
      this.bar,
      h('span.phase', phase),
      h('strong.who', who),
      h('span.request', request),
    );
  }

  // Replaces the buttons below the board. The last one takes the focus that one of
  // them had, or the board if an action there comes first.
  protected showTools(...buttons: Child[]): void {
    const focused = this.tools.contains(document.activeElement);
    replaceChildren(this.tools, ...buttons);
    const last = this.tools.lastElementChild as HTMLButtonElement;
    if (!focused) return;
    if (last.disabled) this.app.board.focus();
    else last.focus();
  }

  protected refuse(hill: HillIndex, chosen: HillIndex | null): void {
    if (this.personToMove) void this.app.tellReason(hill, chosen);
  }

  play(action: Action): void {
    if (!this.personToMove) return;
    this.chosen = null;
    this.try(action, action.to!).catch((error) => this.app.failed(error));
  }

  // Puts the position of a text on the board, without actions before it.
  protected async put(text: string): Promise<void> {
    const position = await this.latest.answer(this.engine.positionOf(text));
    const id = position.text.split(' ')[0];
    const variant = this.engine.info.variants.find((each) => each.id === id)!;
    const game = { variant, options: {}, start: null, actions: [], ply: 0 };
    this.game = { ...game, position };
  }

  // Plays a legal action on the board.
  protected async playOn(notation: string): Promise<void> {
    const game = this.game!;
    const { text, legal, seat, side } = game.position;
    const position = await this.latest.answer(
      this.engine.positionOf(`${text} ${notation}`));
    const action = legal.find((each) => each.notation === notation)!;
    const actions = [...game.actions, { action, seat: seat!, side: side! }];
    this.game = { ...game, position, actions, ply: actions.length };
  }
}
