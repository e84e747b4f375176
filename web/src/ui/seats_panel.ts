// The two sides: who plays each seat, what the side has, whose turn it is.

import { badge } from './board/pieces';
import { h, replaceChildren } from './dom';
import { levelLabel, playerId, playerOf, type Player } from './players';
import { SIDE_NAMES } from './words';
import type { Session, Thinking } from './session';
import type {
  Family,
  Game,
  Level,
  Position,
  SeatInfo,
  Side,
  VariantInfo,
} from '../engine/api';

// What decides a variant of a family, the weightiest first.
const COUNTS: Readonly<Record<Family, readonly Count[]>> = {
  sacred_hill: ['kingdoms', 'territory'],
  four_treasures: ['bridges', 'territory'],
  high_kings: ['kings', 'kingdoms', 'territory'],
  poisoned_chalice: ['kingdoms', 'territory'],
  stone_of_destiny: ['kingdoms', 'territory'],
};

type Count = 'kingdoms' | 'territory' | 'bridges' | 'kings';

const COUNT_LABELS: Readonly<Record<Count, string>> = {
  kingdoms: 'kingdoms',
  territory: 'ringforts',
  bridges: 'bridges',
  kings: 'captured',
};

const COUNT_HELP: Readonly<Record<Count, string>> = {
  kingdoms: 'Groups of linked ringforts: fewer is better',
  territory: 'Ringforts on the board',
  bridges: 'Bridges between ringforts, at most 40 count',
  kings: 'Enemy kings captured',
};

function countOf(count: Count, position: Position, side: Side): number {
  const { score } = position;
  return count === 'kings' ? score.kingsCaptured[side] : score[count][side];
}

export class SeatsPanel {
  readonly element = h('section', {
    class: 'seats',
    'aria-label': 'Players and score',
  });
  // What the elements were made for.
  private variant = '';
  private rated = false;

  constructor(
    private readonly levels: readonly Level[],
    private readonly setPlayer: (seat: number, player: Player) => void,
  ) {}

  // `rated`: the levels' Elo is known of the network there is.
  render(session: Session, rated: boolean): void {
    const { variant } = session.game;
    if (variant.id !== this.variant) {
      this.variant = variant.id;
      this.rated = rated;
      this.build(variant);
    } else if (rated !== this.rated) {
      this.rated = rated;
      this.relabel(variant);
    }
    this.update(session);
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
        h('dl', { class: 'counts' }),
        h('p', { class: 'points' }),
        h('p', { class: 'points-label' }),
      ),
    );
    replaceChildren(this.element, ...cards);
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

  private update(session: Session): void {
    const { game, position, thinking } = session;
    for (const card of this.element.querySelectorAll<HTMLElement>('.side')) {
      const side = Number(card.dataset['side']) as Side;
      card.classList.toggle('to-move', position.side === side);
      replaceChildren(
        card.querySelector('.counts')!,
        ...counts(game, position, side),
      );
      const points = card.querySelector<HTMLElement>('.points')!;
      // A point each for equal kingdoms puzzles on an empty board.
      const isEmpty = position.score.territory.every((count) => count === 0);
      points.textContent = isEmpty
        ? '–'
        : String(position.score.points[side]);
      points.title = position.finished
        ? `${SIDE_NAMES[side]}'s points`
        : `${SIDE_NAMES[side]}'s points if the game ended now`;
      points.classList.toggle('final', position.finished);
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

function counts(game: Game, position: Position, side: Side): HTMLElement[] {
  return COUNTS[game.variant.family].map((count) =>
    h(
      'div',
      { title: COUNT_HELP[count] },
      h('dt', {}, COUNT_LABELS[count]),
      h(
        'dd',
        { 'data-count': count },
        String(countOf(count, position, side)),
        ...capturedKings(count, position, side),
      ),
    ),
  );
}

// The enemy kings that a side has captured, as pieces.
function capturedKings(
  count: Count,
  position: Position,
  side: Side,
): SVGSVGElement[] {
  if (count !== 'kings') return [];
  const enemy = side === 0 ? 1 : 0;
  return Array.from({ length: countOf(count, position, side) }, () =>
    badge(enemy, true),
  );
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
