// What decides a game, and where on the board it is.

import type { Family, HillIndex, Position, Side } from '../engine/api';

export type Count = 'kingdoms' | 'territory' | 'bridges' | 'kings' | 'points';

// Of a family, the weightiest first.
export const COUNTS: Readonly<Record<Family, readonly Count[]>> = {
  sacred_hill: ['kingdoms', 'territory'],
  four_treasures: ['bridges', 'territory'],
  high_kings: ['kings', 'kingdoms', 'territory'],
  poisoned_chalice: ['kingdoms', 'territory'],
  stone_of_destiny: ['kingdoms', 'territory'],
};

export const COUNT_LABELS: Readonly<Record<Count, string>> = {
  kingdoms: 'kingdoms',
  territory: 'ringforts',
  bridges: 'bridges',
  kings: 'captured',
  points: 'points',
};

// A count of a side that is shown on the board.
export interface ShownCount {
  readonly count: Count;
  readonly side: Side;
}

// Hills that belong together, and the bridges between them.
export interface CountedHills {
  readonly side: Side;
  readonly groups: readonly (readonly HillIndex[])[];
  readonly bridges: Position['bridges'];
  readonly isNumbered: boolean; // else the hills or bridges show it by themselves
}

export function countOf(
  { score }: Pick<Position, 'score'>,
  { count, side }: ShownCount,
): number {
  return count === 'kings' ? score.kingsCaptured[side] : score[count][side];
}

// Returns a side's kingdoms: its ringforts, by the bridges that link them.
export function kingdomsOf(
  { hills, bridges }: Pick<Position, 'hills' | 'bridges'>,
  side: Side,
): HillIndex[][] {
  const kingdomOf = hills.map(({ owner }, hill) =>
    owner === side ? [hill] : null,
  );
  for (const { from, to } of bridges) {
    const [one, other] = [kingdomOf[from], kingdomOf[to]];
    if (!one || !other || one === other) continue;
    one.push(...other);
    for (const hill of other) kingdomOf[hill] = one;
  }
  return [...new Set(kingdomOf)].filter((kingdom) => kingdom !== null);
}

// Returns what of the board a count counts; null: nothing that is on it.
export function countedHills(
  position: Pick<Position, 'hills' | 'bridges'>,
  { count, side }: ShownCount,
): CountedHills | null {
  if (count === 'kings' || count === 'points') return null;
  const bridges = position.bridges.filter((bridge) => bridge.side === side);
  const kingdoms = kingdomsOf(position, side);
  switch (count) {
    case 'kingdoms':
      return { side, groups: kingdoms, bridges, isNumbered: true };
    case 'territory': {
      const groups = kingdoms.flat().map((hill) => [hill]);
      return { side, groups, bridges: [], isNumbered: false };
    }
    case 'bridges':
      return { side, groups: [], bridges, isNumbered: false };
  }
}
