// The game that the engine holds: positions as texts of the core, one for each
// ply, and a place among them.

import type {
  Action, Game, PlayedAction, Position, RuleOptions, Side, VariantInfo,
} from './api';
import { type Core, valueOf } from './core';
import { optionsFromText } from './short_text';

export class GameModel {
  readonly variant: VariantInfo;
  readonly options: RuleOptions;
  /** The position that was set up to begin from; null: the variant's start. */
  readonly start: string | null;
  actions: readonly PlayedAction[] = [];
  ply = 0; // that is looked at
  private readonly positions: string[];

  /** `first` is a text of the core. */
  private constructor(private readonly core: Core, first: string) {
    const words = first.split(' ');
    const [id = '', options = '-'] = [words[0], words[8]];
    this.positions = [first];
    this.variant = core.known.variants.find((info) => info.id === id)!;
    this.options = optionsFromText(options);
    this.start =
        first === valueOf(core.initialPosition(id, options)) ? null : first;
  }

  /** `options` as optionsToText writes them. Throws what is wrong. */
  static begin(core: Core, variant: string, options: string): GameModel {
    return new GameModel(
        core, valueOf(core.initialPosition(variant, options)));
  }

  /** Begins from a position that was set up. Throws what is wrong with it. */
  static from(core: Core, position: string): GameModel {
    return new GameModel(core, valueOf(core.completePosition(position)));
  }

  /** Returns the position after this number of actions as text. */
  textAt(ply: number): string {
    const text = this.positions[ply];
    if (text === undefined) {
      throw new Error(
          `ply is ${ply}; expected a whole number from 0 to ` +
          `${this.actions.length}`);
    }
    return text;
  }

  /** The notation of an action at a ply, given by it or by its index. */
  notationOf(ply: number, action: number | string): string {
    if (typeof action === 'string') return action;
    const { actions } = this.core.known;
    if (action in actions) {
      return actionsAt(this.core, this.textAt(ply))(action).notation;
    }
    throw new Error(
        `action is ${action}; expected a whole number from 0 to ` +
        `${actions.length - 1}`);
  }

  /** Returns the position after an action that is played at a ply; the game
   * stays as it is. */
  textAfter(ply: number, action: number | string): string {
    return valueOf(this.core.play(
        this.textAt(ply), this.notationOf(ply, action))).text;
  }

  positionAt(ply: number): Position {
    return positionOf(this.core, this.textAt(ply));
  }

  view(): Game {
    const { variant, options, start, actions, ply } = this;
    const position = this.positionAt(ply);
    return { variant, options, start, actions, ply, position };
  }

  play(notation: string): void {
    const before = this.textAt(this.ply);
    const next = valueOf(this.core.play(before, notation));
    this.drop();
    const action = actionsAt(this.core, before)(next.action);
    const seat = Number(before.split(' ')[2]);
    const side = (seat % 2) as Side;
    this.actions = [...this.actions, { action, seat, side }];
    this.positions.push(next.text);
    this.ply += 1;
  }

  undo(count: number): void {
    if (!Number.isInteger(count) || count < 0) {
      throw new Error(`cannot undo ${count} actions`);
    }
    this.ply = Math.max(0, this.ply - count);
    this.drop();
  }

  goTo(ply: number): void {
    this.textAt(ply);
    this.ply = ply;
  }

  /** Drops what comes after this ply. */
  private drop(): void {
    this.actions = this.actions.slice(0, this.ply);
    this.positions.length = this.ply + 1;
  }
}

/** Returns what names the actions of a position by their index, and those of
 * lines from it. As long as a position has the pie rule, nobody can pass: that
 * index is the swap. */
export function actionsAt(
    core: Core, text: string): (index: number) => Action {
  const { pie_rule } = optionsFromText(text.split(' ')[8] ?? '-');
  return (index) => {
    const action = core.known.actions[index]!;
    return pie_rule === 1 && action.kind === 'pass' ?
      { ...action, kind: 'swap', notation: 'swap' } :
      action;
  };
}

export function positionOf(core: Core, text: string): Position {
  const view = core.view(text);
  return { ...view, legal: view.legal.map(actionsAt(core, text)) };
}
