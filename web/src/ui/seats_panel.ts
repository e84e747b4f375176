// The two sides: the players of their seats, their scores, and the turn.

import { badge } from './board/pieces';
import { h, replaceChildren, setAttribute } from './dom';
import { levelLabel, playerId, playerOf, type Player } from './players';
import {
  COUNT_LABELS,
  countOf,
  COUNTS,
  type Count,
  type ShownCount,
} from './score';
import { countSentence } from './words';
import type { Session, Thinking } from './session';
import type { Level, Position, SeatInfo, Side, VariantInfo } from '../engine/api';

export class SeatsPanel {
  readonly element = h('section', {
    class: 'seats',
    'aria-label': 'Players and score',
  });
  private readonly note = h('p', { class: 'count-note' });
  // What the elements were made for.
  private variant = '';
  private rated = false;

  constructor(
    private readonly levels: readonly Level[],
    private readonly setPlayer: (seat: number, player: Player) => void,
    // A count is pointed at, or (null) no more; or it was pressed.
    private readonly pointAt: (shown: ShownCount | null) => void,
    private readonly press: (shown: ShownCount) => void,
  ) {}

  // `rated`: the levels' Elo is known of the network there is.
  // `shown`: the score that is explained and shown on the board, if it was
  // `pressed` or only pointed at.
  render(
    session: Session,
    rated: boolean,
    shown: ShownCount | null,
    pressed: ShownCount | null,
  ): void {
    const { variant } = session.game;
    if (variant.id !== this.variant) {
      this.variant = variant.id;
      this.rated = rated;
      this.build(variant);
    } else if (rated !== this.rated) {
      this.rated = rated;
      this.relabel(variant);
    }
    this.update(session, pressed);
    this.note.textContent =
      shown === null ? '' : countSentence(session.game, shown);
    if (shown === null) this.note.remove();
    else this.element.children[shown.side]!.append(this.note);
  }

  private build(variant: VariantInfo): void {
    const cards = ([0, 1] as const).map((side) =>
      h(
        'div',
        { class: `side ${side === 0 ? 'red' : 'blue'}`, 'data-side': side },
        badge(side),
        h(
          'div',
          { class: 'side-seats' },
          ...variant.seats
            .filter((seat) => seat.side === side)
            .map((seat) => this.seatRow(seat, variant)),
        ),
        h(
          'div',
          { class: 'counts' },
          ...COUNTS[variant.family].map((count) =>
            this.count({ count, side }, h('span', {}, COUNT_LABELS[count])),
          ),
        ),
        this.count(
          { count: 'points', side },
          h('span', { class: 'points-label' }),
        ),
      ),
    );
    replaceChildren(this.element, ...cards);
  }

  // A number that is explained, and shown on the board, when it is pointed at
  // or pressed.
  private count(shown: ShownCount, label: HTMLElement): HTMLElement {
    const value = h('strong', {});
    if (shown.count === 'points') value.className = 'points';
    return h(
      'button',
      {
        type: 'button',
        class: 'quiet count',
        'data-count': shown.count,
        pointerenter: ({ pointerType }: PointerEvent) => {
          if (pointerType === 'mouse') this.pointAt(shown);
        },
        pointerleave: () => this.pointAt(null),
        click: () => this.press(shown),
      },
      label,
      ' ',
      value,
    );
  }

  // The choices stay as they are, with their focus.
  private relabel(variant: VariantInfo): void {
    for (const select of this.element.querySelectorAll('select')) {
      this.levels.forEach((level, i) => {
        select.options[i + 1]!.textContent = levelLabel(
          level,
          variant,
          this.rated,
        );
      });
    }
  }

  private seatRow(seat: SeatInfo, variant: VariantInfo): HTMLElement {
    const select = h(
      'select',
      {
        'aria-label': `Who plays ${seat.name}`,
        change: () => this.setPlayer(seat.index, playerOf(select.value)),
      },
      h('option', { value: 'person' }, 'Person'),
      ...this.levels.map((level) =>
        h(
          'option',
          { value: level.id },
          levelLabel(level, variant, this.rated),
        ),
      ),
    );
    return h(
      'div',
      { class: 'seat', 'data-seat': seat.index },
      h('span', { class: 'seat-name' }, seat.name),
      select,
      h('span', { class: 'seat-work' }),
    );
  }

  private update(session: Session, pressed: ShownCount | null): void {
    const { position, thinking } = session;
    for (const card of this.element.querySelectorAll<HTMLElement>('.side')) {
      const side = Number(card.dataset['side']) as Side;
      card.classList.toggle('to-move', position.side === side);
      for (const button of card.querySelectorAll<HTMLElement>('.count')) {
        const count = button.dataset['count'] as Count;
        const isPressed = pressed?.side === side && pressed.count === count;
        setAttribute(button, 'aria-pressed', String(isPressed));
        replaceChildren(
          button.querySelector('strong')!,
          ...valueOf({ count, side }, position),
        );
      }
      card
        .querySelector('.points')!
        .classList.toggle('final', position.finished);
      card.querySelector('.points-label')!.textContent = position.finished
        ? 'points'
        : 'points now';
    }
    for (const row of this.element.querySelectorAll<HTMLElement>('.seat')) {
      const seat = Number(row.dataset['seat']);
      const toMove = position.seat === seat;
      const player = session.players[seat];
      const select = row.querySelector('select')!;
      if (player !== undefined) select.value = playerId(player);
      row.classList.toggle('to-move', toMove);
      showWork(row.querySelector('.seat-work')!, toMove ? thinking : null);
    }
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
  return [
    String(value),
    ...Array.from({ length: captured }, () => badge(enemy, true)),
  ];
}

function showWork(element: HTMLElement, thinking: Thinking | null): void {
  const progress = thinking?.progress;
  const share =
    progress === null || progress === undefined
      ? 0
      : progress.simulations / Math.max(1, progress.targetSimulations);
  element.classList.toggle('shown', thinking !== null);
  element.style.setProperty('--share', String(share));
}
