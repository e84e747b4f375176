// What the board shows on top of a position: hints, heat, what may be done.

import { s } from '../dom';
import { CENTRE, pathPoint, plus, SIZE, STEP, type Point } from './layout';
import type { Action, BySide, Evaluation, HillIndex } from '../../engine/api';
import { SIDE_CLASS } from './pieces';
import type { CountedHills } from '../score';
import type { Use } from '../selection';

export interface Marks {
  readonly uses: ReadonlyMap<HillIndex, Use>;
  readonly links: readonly Action[]; // that may be pointed at as such
  readonly chosen: HillIndex | null;
  readonly last: Action | null;
  readonly hints: readonly Action[]; // the best first, or better than `mistake`
  readonly mistake: Action | null;
  readonly heat: Evaluation['policy'] | null;
  readonly owners: readonly BySide<number>[] | null;
  readonly area: number | null; // the seat of doubles whose rows are not shaded
  readonly besieged: readonly HillIndex[];
  readonly counted: readonly CountedHills[]; // what counts count
  readonly mover: 'red' | 'blue' | 'none';
}

export function middle(one: Point, other: Point): Point {
  return plus(one, plus(other, one, -1), 1 / 2);
}

// Returns a bent arrow from one hill to another.
export function arrow(from: Point, to: Point, name: string): SVGElement {
  const way = plus(to, from, -1);
  const length = Math.hypot(way.x, way.y);
  const start = plus(from, way, 24 / length);
  const end = plus(to, way, -30 / length);
  const bend = { x: way.y, y: -way.x };
  const control = plus(middle(from, end), bend, 0.12);
  return s('path', {
    class: name,
    'marker-end': 'url(#arrow-head)',
    d: `M${pathPoint(start)}Q${pathPoint(control)} ${pathPoint(end)}`,
  });
}

export function arrowHead(): SVGMarkerElement {
  return s(
    'marker#arrow-head',
    {
      viewBox: '0 0 10 10',
      refX: 6,
      refY: 5,
      markerWidth: 3.6,
      markerHeight: 3.6,
      orient: 'auto-start-reverse',
    },
    s('path.arrow-head', { d: 'M0 0L10 5L0 10L3 5Z' }),
  );
}

// Returns the shade over the rows that a seat of doubles may not act on: all
// but the four nearest to it (docs/reference/rules.md section 5).
export function areaShade(seat: number | null): SVGElement | null {
  if (seat === null) return null;
  const rest = CENTRE - STEP / 2; // of the drawing's size
  const isAcross = seat % 2 === 0; // South and North
  return s('rect.area-shade', {
    x: seat === 1 ? SIZE - rest : 0,
    y: seat === 2 ? SIZE - rest : 0,
    width: isAcross ? SIZE : rest,
    height: isAcross ? rest : SIZE,
  });
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
    return s('rect.owner-mark', {
      class: red >= blue ? 'red' : 'blue',
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
    return s('path.counted', { class: groups.length > 0 ? 'wide' : '', d });
  });
}

function badge({ x, y }: Point, name: string, text: string): SVGElement {
  const transform = `translate(${x + 30} ${y - 30})`;
  return s('g.mark-badge', { class: name, transform },
    s('circle', { r: 17 }), s('text', text));
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
  return share >= 0.01 ? String(Math.round(share * 100)) : '';
}

// Returns the heat map of a policy: by the hill that an action leads to, with
// arrows of the likeliest king moves; links by their middles.
export function heatMarks(
  points: readonly Point[],
  heat: Evaluation['policy'] | null,
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
    marks.push(
      s('circle.heat', {
        cx: at.x,
        cy: at.y,
        r: 12 + 24 * warmth,
        style: `--warmth: ${warmth.toFixed(3)}`,
      }),
      s('text.heat-text', { x: at.x, y: at.y }, percent(share)));
  }
  const moves = heat.filter((e) => e.action.kind.match(/king_move|sacrifice/));
  for (const { action, probability } of moves.slice(0, 3)) {
    if (probability < 0.05) continue;
    const [from, to] = [points[action.from!]!, points[action.to!]!];
    marks.unshift(arrow(from, to, 'heat-arrow'));
  }
  return marks;
}

// What the use of a hill looks like: the name of a style, and a radius.
const USE_RINGS = {
  build: ['build', 9],
  place: ['place', 9],
  capture: ['capture', 39],
  swap: ['capture', 39],
  start: ['start', 42],
  end: ['end', 15],
} as const;

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
    // Links are shown by themselves; where a position is set up, all hills do.
    if ((use === 'start' && marks.links.length > 0) || use === 'set') continue;
    const [name, radius] = USE_RINGS[use];
    ring(hill, `use use-${name} ${marks.mover}`, radius);
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
    result.push(s('path.edge-arrow', { d }), s('path.mistake-cross', { d }));
  }
  return result;
}
