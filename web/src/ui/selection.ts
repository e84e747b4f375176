// From hills that a person points at to actions. Actions of one hill are played
// at once; actions of two hills (king moves, links) take two choices, in either
// order, and may then leave a choice, as with a sacrifice.

import type { Action, HillIndex, Position } from '../engine/api';

// What pointing at a hill would do.
export type Use =
  | 'build'
  | 'place'
  | 'capture'
  | 'swap'
  | 'start' // of a king move or a link
  | 'end' // of the one that has been started
  | 'set'; // of a position that is set up

type Choice =
  | { readonly kind: 'play'; readonly action: Action }
  | { readonly kind: 'ask'; readonly actions: readonly Action[] }
  | { readonly kind: 'choose'; readonly hill: HillIndex | null }
  | { readonly kind: 'refuse'; readonly hill: HillIndex };

function touches(action: Action, hill: HillIndex): boolean {
  return action.from === hill || action.to === hill;
}

// Returns the actions of two hills that start at `hill`, or else the ones that
// lead there.
function actionsOf(position: Position, hill: HillIndex): Action[] {
  const two = position.legal.filter((a) => a.from !== null && touches(a, hill));
  const starting = two.filter((a) => a.kind === 'link' || a.from === hill);
  return starting.length > 0 ? starting : two;
}

function otherEnd(action: Action, hill: HillIndex): HillIndex {
  return action.from === hill ? action.to! : action.from!;
}

function useOfHillAction(position: Position, hill: HillIndex): Use {
  if (position.phase === 'placement') return 'place';
  if (position.hills[hill]!.owner === null) return 'build';
  return position.text.startsWith('stone_of_destiny') ? 'swap' : 'capture';
}

// Returns the hills that a person may point at, given the one that is chosen,
// and what for.
export function uses(
  position: Position,
  chosen: HillIndex | null,
): Map<HillIndex, Use> {
  const result = new Map<HillIndex, Use>();
  for (const action of position.legal) {
    if (action.to === null) continue;
    if (action.from === null) {
      result.set(action.to, useOfHillAction(position, action.to));
    } else {
      result.set(action.from, 'start');
      if (action.kind === 'link') result.set(action.to, 'start');
    }
  }
  if (chosen !== null) {
    for (const action of actionsOf(position, chosen)) {
      result.set(otherEnd(action, chosen), 'end');
    }
  }
  return result;
}

// Returns what comes of pointing at `hill` when `chosen` was pointed at before.
export function choose(
  position: Position,
  chosen: HillIndex | null,
  hill: HillIndex,
): Choice {
  if (chosen === hill) return { kind: 'choose', hill: null };
  const single = position.legal.find((a) => a.from === null && a.to === hill);
  if (single !== undefined) return { kind: 'play', action: single };
  if (chosen !== null) {
    const both = actionsOf(position, chosen).filter((a) => touches(a, hill));
    if (both.length === 1) return { kind: 'play', action: both[0]! };
    if (both.length > 1) return { kind: 'ask', actions: both };
  }
  return actionsOf(position, hill).length > 0
    ? { kind: 'choose', hill }
    : { kind: 'refuse', hill };
}

export interface PickerEvents {
  changed(): void; // something needs drawing
  asked(actions: readonly Action[]): void; // for a person to choose from
}

// Takes the hills that a person points at, up to an action.
export abstract class Picker {
  chosen: HillIndex | null = null;

  protected abstract readonly events: PickerEvents;
  // Whether a person may act on the position now.
  abstract get personToMove(): boolean;
  abstract get position(): Position;
  abstract play(action: Action): void;
  // `hill` does not do, after `chosen`.
  protected abstract refuse(hill: HillIndex, chosen: HillIndex | null): void;

  pointAt(hill: HillIndex): void {
    if (!this.personToMove) this.refuse(hill, null);
    else this.take(choose(this.position, this.chosen, hill), this.chosen);
  }

  // A king or a link was dragged.
  drag(from: HillIndex, to: HillIndex): void {
    if (!this.personToMove) return;
    const choice = choose(this.position, from, to);
    const isLost = choice.kind === 'choose';
    this.take(isLost ? { kind: 'refuse', hill: to } : choice, from);
  }

  forget(): void {
    this.chosen = null;
    this.events.changed();
  }

  private take(choice: Choice, chosen: HillIndex | null): void {
    switch (choice.kind) {
      case 'play':
        this.play(choice.action);
        break;
      case 'ask':
        this.events.asked(choice.actions);
        break;
      case 'choose':
        this.chosen = choice.hill;
        this.events.changed();
        break;
      case 'refuse':
        this.forget();
        this.refuse(choice.hill, chosen);
        break;
    }
  }
}
