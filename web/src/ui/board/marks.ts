// What the board shows on top of a position: hints, heat, what may be done.

import { s } from '../dom';
import { SIZE, STEP, type Point } from './layout';
import type { Action, BySide, Hill, HillIndex } from '../../engine/api';
import { SIDE_CLASS } from './pieces';
import type { CountedHills } from '../score';
import type { Use } from '../selection';

export interface HeatAction {
  readonly action: Action;
  readonly probability: number;
}

export interface Marks {
  readonly uses: ReadonlyMap<HillIndex, Use>;
  readonly links: readonly Action[]; // that may be pointed at as such
  readonly chosen: HillIndex | null;
  readonly last: Action | null;
  readonly hints: readonly Action[]; // the best first, or better than `mistake`
  readonly mistake: Action | null;
  readonly heat: readonly HeatAction[] | null;
  readonly owners: readonly BySide<number>[] | null;
  readonly area: ReadonlySet<HillIndex> | null; // of the seat; null: all
  readonly besieged: readonly HillIndex[];
  readonly counted: readonly CountedHills[]; // what counts count
  readonly mover: 'red' | 'blue' | 'none';
}

export function middle(one: Point, other: Point): Point {
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

// Returns a bent arrow from one hill to another.
export function arrow(from: Point, to: Point, name: string): SVGElement {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const bend = { x: along.y * length * 0.12, y: -along.x * length * 0.12 };
  const end = { x: to.x - along.x * 30, y: to.y - along.y * 30 };
  const control = {
    x: (from.x + end.x) / 2 + bend.x,
    y: (from.y + end.y) / 2 + bend.y,
  };
  return s('path', {
    class: name,
    'marker-end': 'url(#arrow-head)',
    d:
      `M${from.x + along.x * 24} ${from.y + along.y * 24}` +
      `Q${control.x} ${control.y} ${end.x} ${end.y}`,
  });
}

export function arrowHead(): SVGMarkerElement {
  return s(
    'marker',
    {
      id: 'arrow-head',
      viewBox: '0 0 10 10',
      refX: 6,
      refY: 5,
      markerWidth: 3.6,
      markerHeight: 3.6,
      orient: 'auto-start-reverse',
    },
    s('path', { class: 'arrow-head', d: 'M0 0L10 5L0 10L3 5Z' }),
  );
}

// Whether a seat of doubles may act on a hill: the four rows nearest to it
// (docs/reference/rules.md section 5).
export function isInArea({ file, rank }: Hill, seat: number): boolean {
  return [rank <= 3, file <= 3, rank >= 3, file >= 3][seat]!;
}

// Returns the shade over the hills that the seat to move may not act on.
export function areaShade(
  points: readonly Point[],
  area: ReadonlySet<HillIndex> | null,
): SVGElement[] {
  if (area === null) return [];
  const inside = points.filter((_, hill) => area.has(hill));
  const xs = inside.map((p) => p.x);
  const ys = inside.map((p) => p.y);
  const half = STEP / 2;
  // To the edge of the drawing where the area goes to the edge of the board.
  const all = [...points.map((p) => p.x), ...points.map((p) => p.y)];
  const start = Math.min(...all);
  const end = Math.max(...all);
  const below = (v: number): number => (v === start ? 0 : v - half);
  const above = (v: number): number => (v === end ? SIZE : v + half);
  const low = { x: below(Math.min(...xs)), y: below(Math.min(...ys)) };
  const high = { x: above(Math.max(...xs)), y: above(Math.max(...ys)) };
  const shades: [number, number, number, number][] = [
    [0, 0, low.x, SIZE],
    [high.x, 0, SIZE, SIZE],
    [0, 0, SIZE, low.y],
    [0, high.y, SIZE, SIZE],
  ];
  return shades
    .filter(([x0, y0, x1, y1]) => x1 - x0 > 1 && y1 - y0 > 1)
    .map(([x0, y0, x1, y1]) =>
      s('rect', {
        class: 'area-shade',
        x: x0,
        y: y0,
        width: x1 - x0,
        height: y1 - y0,
      }),
    );
}

// Returns who is likely to own each hill at the end, as pips on the rims of the
// hills.
export function ownerMarks(
  points: readonly Point[],
  owners: readonly BySide<number>[] | null,
): SVGElement[] {
  return (owners ?? []).flatMap(([red, blue], hill) => {
    const { x, y } = points[hill]!;
    const size = 30 * Math.abs(red - blue);
    if (size < 5) return []; // open
    return s('rect', {
      class: `owner-mark ${red >= blue ? 'red' : 'blue'}`,
      x: x + 24 - size / 2,
      y: y - 24 - size / 2,
      width: size,
      height: size,
      rx: size / 4,
    });
  });
}

// Returns a glow below the ringforts of each group, and along the bridges.
export function countedGround(
  points: readonly Point[],
  counted: readonly CountedHills[],
): SVGElement[] {
  const at = (hill: HillIndex): string => `${points[hill]!.x} ${points[hill]!.y}`;
  return counted.map(({ groups, bridges }) => {
    const d = [
      ...groups.flat().map((hill) => `M${at(hill)}h0`),
      ...bridges.map(({ from, to }) => `M${at(from)}L${at(to)}`),
    ].join('');
    const isWide = groups.length > 0;
    return s('path', { class: `counted${isWide ? ' wide' : ''}`, d });
  });
}

function badge({ x, y }: Point, name: string, text: string): SVGElement {
  return s(
    'g',
    { class: `mark-badge ${name}`, transform: `translate(${x + 30} ${y - 30})` },
    s('circle', { r: 17 }),
    s('text', {}, text),
  );
}

// Returns the numbers of the groups, and the marks of besieged ringforts.
export function countedMarks(
  points: readonly Point[],
  { counted, besieged }: Marks,
): SVGElement[] {
  if (counted.length === 0) {
    return besieged.map((hill) => badge(points[hill]!, 'besieged', '!'));
  }
  return counted
    .filter(({ isNumbered }) => isNumbered)
    .flatMap(({ groups, side }) =>
      groups.map((group, i) => {
        // The northernmost, and of those the easternmost.
        const first = Math.max(...group);
        return badge(points[first]!, SIDE_CLASS[side], String(i + 1));
      }),
    );
}

function percent(share: number): string {
  if (share >= 0.095) return String(Math.round(share * 100));
  return share >= 0.01 ? String(Math.round(share * 100)) : '';
}

// Returns the heat map of a policy: by the hill that an action leads to, with
// arrows of the likeliest king moves; links by their middles.
export function heatMarks(
  points: readonly Point[],
  heat: readonly HeatAction[] | null,
): SVGElement[] {
  if (heat === null) return [];
  const byPlace = new Map<string, { at: Point; share: number }>();
  for (const { action, probability } of heat) {
    if (action.to === null) continue;
    const link = action.kind === 'link';
    const key = link ? action.notation : String(action.to);
    const to = points[action.to]!;
    const at = link ? middle(points[action.from!]!, to) : to;
    const share = (byPlace.get(key)?.share ?? 0) + probability;
    byPlace.set(key, { at, share });
  }
  const largest = Math.max(...[...byPlace.values()].map((e) => e.share), 1e-9);
  const marks: SVGElement[] = [];
  for (const { at, share } of byPlace.values()) {
    const warmth = Math.sqrt(share / largest);
    const circle = s('circle', {
      class: 'heat',
      cx: at.x,
      cy: at.y,
      r: 12 + 24 * warmth,
    });
    // The page's policy forbids the attribute `style`.
    circle.style.setProperty('--warmth', warmth.toFixed(3));
    marks.push(
      circle,
      s('text', { class: 'heat-text', x: at.x, y: at.y }, percent(share)),
    );
  }
  const moves = heat.filter((e) => e.action.kind.match(/king_move|sacrifice/));
  for (const { action, probability } of moves.slice(0, 3)) {
    if (probability < 0.05) continue;
    marks.unshift(
      arrow(points[action.from!]!, points[action.to!]!, 'heat-arrow'),
    );
  }
  return marks;
}

// Returns rings and arrows for the last action, the hint and the chosen hill.
export function pointerMarks(
  points: readonly Point[],
  marks: Marks,
): SVGElement[] {
  const result: SVGElement[] = [];
  const ring = (hill: HillIndex, name: string, r: number): void => {
    const { x, y } = points[hill]!;
    result.push(s('circle', { class: name, cx: x, cy: y, r }));
  };
  const pair = (action: Action, name: string): void => {
    const [from, to] = [points[action.from!]!, points[action.to!]!];
    result.push(
      action.kind === 'link'
        ? s('line', { class: name, x1: from.x, y1: from.y, x2: to.x, y2: to.y })
        : arrow(from, to, name),
    );
  };
  if (marks.last !== null && marks.last.to !== null) {
    if (marks.last.kind === 'link') ring(marks.last.from!, 'last-ring', 40);
    else if (marks.last.from !== null) pair(marks.last, 'last-arrow');
    ring(marks.last.to, 'last-ring', 40);
  }
  for (const [hill, use] of marks.uses) {
    if (use === 'start' && marks.links.length > 0) continue; // shown by links
    if (use === 'set') continue; // all hills
    if (use === 'start') ring(hill, `use use-start ${marks.mover}`, 42);
    else if (use === 'capture' || use === 'swap') {
      ring(hill, `use use-capture ${marks.mover}`, 39);
    } else ring(hill, `use use-${use} ${marks.mover}`, use === 'end' ? 15 : 9);
  }
  if (marks.chosen !== null) ring(marks.chosen, 'chosen-ring', 44);
  // With a dark edge, as they lie on green hills.
  const edged = (action: Action | null, name: string): void => {
    if (action === null || action.to === null) return;
    for (const part of ['edge', name]) {
      if (action.from !== null) pair(action, `${part}-arrow`);
      ring(action.to, `${part}-ring`, 43);
    }
  };
  edged(marks.mistake, 'mistake');
  // The best one last, on top.
  [...marks.hints].reverse().forEach((action, i) => {
    edged(action, i === marks.hints.length - 1 ? 'hint' : 'next');
  });
  if (marks.mistake === null) {
    marks.hints.forEach(({ to }, i) => {
      if (to === null) return;
      if (marks.hints.slice(0, i).some((better) => better.to === to)) return;
      result.push(badge(points[to]!, 'hint-rank', String(i + 1)));
    });
  }
  if (marks.mistake !== null && marks.mistake.to !== null) {
    const { x, y } = points[marks.mistake.to]!;
    const d = `M${x - 14} ${y - 14}l28 28m0 -28l-28 28`;
    result.push(
      s('path', { class: 'edge-arrow', d }),
      s('path', { class: 'mistake-cross', d }),
    );
  }
  return result;
}
