// The two sides: the players of their seats, their scores, and the turn.

import { badge, SIDE_CLASS } from './board/pieces';
import { h, patch } from './dom';
import { button, select } from './parts';
import { levelLabel, PERSON } from './players';
import {
  COUNT_LABELS, countOf, COUNTS, type Count, type ShownCount,
} from './score';
import { countSentence } from './words';
import type { App } from './app';
import type { Position, SeatInfo } from '../engine/api';

export class SeatsPanel {
  readonly element = h('section.seats', { 'aria-label': 'Players and score' });
  private pointed: ShownCount | null = null;
  private pressed: ShownCount | null = null;

  constructor(private readonly app: App) {}

  // The count that is explained, and shown on the board.
  get shown(): ShownCount | null {
    return this.pointed ?? this.pressed;
  }

  render(): void {
    const { session } = this.app;
    const { shown, pressed } = this;
    const { game, position, players } = session;
    const { variant } = game;
    const { finished } = position;
    patch(this.element, ([0, 1] as const).map((side) => {
      const count = (count: Count, label: HTMLElement): HTMLElement =>
        this.count({ count, side }, position, label,
          pressed?.side === side && pressed.count === count);
      return h('div.side',
        {
          class: SIDE_CLASS[side] + (position.side === side ? ' to-move' : ''),
          'data-side': side,
        },
        badge(side),
        h('div.side-seats',
          variant.seats
            .filter((seat) => seat.side === side)
            .map((seat) => this.seatRow(seat))),
        h('div.counts',
          COUNTS[variant.family].map((each) =>
            count(each, h('span', COUNT_LABELS[each])))),
        count('points',
          h('span.points-label', finished ? 'points' : 'points now')),
        shown?.side === side && h('p.count-note', countSentence(game, shown)));
    }));
    for (const row of this.element.querySelectorAll<HTMLElement>('.seat')) {
      const player = players[Number(row.dataset['seat'])];
      row.querySelector('select')!.value = player ?? PERSON;
    }
  }

  // A number that is explained, and shown on the board, when it is pointed at
  // or pressed.
  private count(
    shown: ShownCount,
    position: Position,
    label: HTMLElement,
    isPressed: boolean,
  ): HTMLElement {
    const final = position.finished && 'final';
    const tag = shown.count === 'points' ? 'strong.points' : 'strong';
    const value = h(tag, { class: final }, valueOf(shown, position));
    return button('', [label, ' ', value], () => this.press(shown, isPressed), {
      class: 'quiet count',
      'data-count': shown.count,
      'aria-pressed': String(isPressed),
      pointerenter: ({ pointerType }: PointerEvent) => {
        if (pointerType === 'mouse') this.pointAt(shown);
      },
      pointerleave: () => this.pointAt(null),
    });
  }

  private pointAt(shown: ShownCount | null): void {
    this.pointed = shown;
    this.app.changed();
  }

  private press(shown: ShownCount, isPressed: boolean): void {
    this.pressed = isPressed ? null : shown;
    if (isPressed) this.pointed = null;
    else this.app.explainCount(shown);
    this.app.changed();
  }

  private seatRow({ index, name }: SeatInfo): HTMLElement {
    const { session, isRated, engine } = this.app;
    const { position, thinking, game } = session;
    const field = select(
      `Who plays ${name}`,
      (player) => session.setPlayer(index, player),
      [
        [PERSON, 'Person'],
        ...engine.info.levels.map((level) =>
          [level.id, levelLabel(level, game.variant, isRated)] as const),
      ],
    );
    const toMove = position.seat === index;
    const { simulations = 0, targetSimulations = 1 } = thinking?.progress ?? {};
    return h('div.seat', { 'data-seat': index, class: toMove && 'to-move' },
      h('span.seat-name', name),
      field,
      h('span.seat-work', {
        class: toMove && thinking !== null && 'shown',
        style: `--share: ${simulations / Math.max(1, targetSimulations)}`,
      }));
  }
}

// Returns a count as a number, with captured kings as pieces.
function valueOf(shown: ShownCount, position: Position): (Node | string)[] {
  const { count, side } = shown;
  // A point each for equal kingdoms puzzles on an empty board.
  const isEmpty = position.score.territory.every((forts) => forts === 0);
  if (count === 'points' && isEmpty) return ['–'];
  const value = countOf(position, shown);
  const enemy = side === 0 ? 1 : 0;
  const captured = count === 'kings' ? value : 0;
  const kings = Array.from({ length: captured }, () => badge(enemy, true));
  return [String(value), ...kings];
}
