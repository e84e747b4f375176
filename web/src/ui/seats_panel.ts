// The two sides: the players of their seats, their scores, and the turn.

import { badge, SIDE_CLASS } from './board/pieces';
import { h, replaceChildren, setAttribute } from './dom';
import { button, select } from './parts';
import { levelLabel, playerId, playerOf, type Player } from './players';
import {
  COUNT_LABELS, countOf, COUNTS, type Count, type ShownCount,
} from './score';
import { countSentence } from './words';
import type { Session, Thinking } from './session';
import type { Level, Position, SeatInfo, Side, VariantInfo } from '../engine/api';

export class SeatsPanel {
  readonly element = h('section.seats', { 'aria-label': 'Players and score' });
  private readonly note = h('p.count-note');
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
      h('div.side', { class: SIDE_CLASS[side], 'data-side': side },
        badge(side),
        h('div.side-seats',
          variant.seats
            .filter((seat) => seat.side === side)
            .map((seat) => this.seatRow(seat, variant))),
        h('div.counts',
          COUNTS[variant.family].map((count) =>
            this.count({ count, side }, h('span', COUNT_LABELS[count])))),
        this.count({ count: 'points', side }, h('span.points-label'))));
    replaceChildren(this.element, cards);
  }

  // A number that is explained, and shown on the board, when it is pointed at
  // or pressed.
  private count(shown: ShownCount, label: HTMLElement): HTMLElement {
    const value = h(shown.count === 'points' ? 'strong.points' : 'strong');
    return button('', [label, ' ', value], () => this.press(shown), {
      class: 'quiet count',
      'data-count': shown.count,
      pointerenter: ({ pointerType }: PointerEvent) => {
        if (pointerType === 'mouse') this.pointAt(shown);
      },
      pointerleave: () => this.pointAt(null),
    });
  }

  // The choices stay as they are, with their focus.
  private relabel(variant: VariantInfo): void {
    for (const select of this.element.querySelectorAll('select')) {
      this.levels.forEach((level, i) => {
        const label = levelLabel(level, variant, this.rated);
        select.options[i + 1]!.textContent = label;
      });
    }
  }

  private seatRow(seat: SeatInfo, variant: VariantInfo): HTMLElement {
    const field = select(
      `Who plays ${seat.name}`,
      () => this.setPlayer(seat.index, playerOf(field.value)),
      [
        ['person', 'Person'],
        ...this.levels.map((level) =>
          [level.id, levelLabel(level, variant, this.rated)] as const),
      ],
    );
    return h('div.seat', { 'data-seat': seat.index },
      h('span.seat-name', seat.name), field, h('span.seat-work'));
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
        const value = valueOf({ count, side }, position);
        replaceChildren(button.querySelector('strong')!, value);
      }
      const { finished } = position;
      card.querySelector('.points')!.classList.toggle('final', finished);
      card.querySelector('.points-label')!.textContent =
        finished ? 'points' : 'points now';
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
  const kings = Array.from({ length: captured }, () => badge(enemy, true));
  return [String(value), ...kings];
}

function showWork(element: HTMLElement, thinking: Thinking | null): void {
  const { simulations = 0, targetSimulations = 1 } = thinking?.progress ?? {};
  const share = simulations / Math.max(1, targetSimulations);
  element.classList.toggle('shown', thinking !== null);
  element.style.setProperty('--share', String(share));
}
