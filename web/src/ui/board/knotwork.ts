// Bridges as knotwork. Ringforts are the vertices, bridges the edges of a
// plane graph, and the strands are the knot of that graph (its medial graph):
// two strands cross in the middle of each bridge, and between one bridge and
// the next a strand runs along the wall of the ringfort. A ringfort without a
// bridge is a closed ring. Each strand passes over and under in turn, because
// at every crossing the one that has the bridge on its right, coming from
// either end, is on top.

import { pathPoint, plus, STEP, unit, type Point } from './layout';

export const RING_RADIUS = 29;

type Cubic = readonly [Point, Point, Point, Point];

export interface Knot {
  strands: string; // path data of all strands
  crossings: string[]; // path data of the strand on top at each bridge
}

// Directions are counted in quarters of a turn: east, south, west, north.
const QUARTER = Math.PI / 2;
const WALL_ANGLE = (56 * Math.PI) / 180; // where a strand meets the wall
const CROSSING_HANDLE = 13;
const WALL_HANDLE = 12;
const CORNER_HANDLES = [23, 23 * 0.72] as const;
const TOP_SHARE = 0.42; // of each cubic that is drawn again on top

// The strand from the middle of the bridge in `direction` to the wall; `turn`
// is 1 on the clockwise side of the bridge, -1 on the other.
function fromCrossing(centre: Point, direction: number, turn: number): Cubic {
  const along = unit(direction * QUARTER);
  const aside = unit((direction + turn) * QUARTER);
  const angle = direction * QUARTER + turn * WALL_ANGLE;
  const start = plus(centre, along, STEP / 2);
  const end = plus(centre, unit(angle), RING_RADIUS);
  return [
    start,
    plus(plus(start, along, -CROSSING_HANDLE), aside, CROSSING_HANDLE),
    plus(end, unit(angle + turn * QUARTER), -WALL_HANDLE),
    end,
  ];
}

// The strand between the bridges in two directions at a right angle, which has
// no room for a wall.
function corner(centre: Point, direction: number): Cubic {
  const along = unit(direction * QUARTER);
  const aside = unit((direction + 1) * QUARTER);
  const start = plus(centre, along, STEP / 2);
  const end = plus(centre, aside, STEP / 2);
  const [back, away] = CORNER_HANDLES;
  return [
    start,
    plus(plus(start, along, -back), aside, away),
    plus(plus(end, aside, -back), along, away),
    end,
  ];
}

function reversed([a, b, c, d]: Cubic): Cubic {
  return [d, c, b, a];
}

// What follows the start of a cubic in path data.
function cubicText([, ...rest]: Cubic): string {
  return `C${rest.map(pathPoint).join(' ')}`;
}

// The first share of a cubic, `TOP_SHARE` (de Casteljau).
function beginning([a, b, c, d]: Cubic): Cubic {
  const mix = (p: Point, q: Point): Point =>
    plus(p, plus(q, p, -1), TOP_SHARE);
  const [ab, bc, cd] = [mix(a, b), mix(b, c), mix(c, d)];
  const abc = mix(ab, bc);
  return [a, ab, abc, mix(abc, mix(bc, cd))];
}

function arcTo(end: Point, large: boolean): string {
  const r = RING_RADIUS;
  return `A${r} ${r} 0 ${large ? 1 : 0} 1 ${pathPoint(end)}`;
}

function ring(centre: Point): string {
  const east = plus(centre, { x: RING_RADIUS, y: 0 });
  const west = plus(centre, { x: -RING_RADIUS, y: 0 });
  return `M${pathPoint(east)}${arcTo(west, true)}${arcTo(east, true)}Z`;
}

// The strand round `centre` from one bridge to the next, clockwise. `gap` is
// the quarters of a turn between them, 1 to 4.
function strand(centre: Point, direction: number, gap: number): string {
  const start = firstCubic(centre, direction, gap);
  const beginning = `M${pathPoint(start[0])}${cubicText(start)}`;
  if (gap === 1) return beginning;
  const end = reversed(fromCrossing(centre, direction + gap, -1));
  const isLarge = gap * QUARTER - 2 * WALL_ANGLE > Math.PI;
  return beginning + arcTo(end[0], isLarge) + cubicText(end);
}

// The first cubic of the strand clockwise of a bridge.
function firstCubic(centre: Point, direction: number, gap: number): Cubic {
  return gap === 1
    ? corner(centre, direction)
    : fromCrossing(centre, direction, 1);
}

// Returns the knot of ringforts at `points` (by hill) that are `joined` by
// bridges; a ringfort of `forts` may have none.
export function knot(
  points: readonly Point[],
  forts: readonly number[],
  bridges: readonly (readonly [number, number])[],
): Knot {
  // ends[hill][direction] is the hill at the other end of a bridge.
  const ends = new Map<number, Map<number, number>>();
  for (const fort of forts) ends.set(fort, new Map());
  for (const [one, other] of bridges) {
    ends.get(one)?.set(directionOf(points[one]!, points[other]!), other);
    ends.get(other)?.set(directionOf(points[other]!, points[one]!), one);
  }
  const gapAfter = (directions: Map<number, number>, from: number): number => {
    let gap = 1;
    while (!directions.has((from + gap) % 4)) ++gap;
    return gap;
  };
  let strands = '';
  const crossings: string[] = [];
  for (const [fort, directions] of ends) {
    const centre = points[fort]!;
    if (directions.size === 0) strands += ring(centre);
    for (const [direction, other] of directions) {
      const gap = gapAfter(directions, direction);
      strands += strand(centre, direction, gap);
      if (other < fort) continue;
      const back = (direction + 2) % 4;
      const here = beginning(firstCubic(centre, direction, gap));
      const gapThere = gapAfter(ends.get(other)!, back);
      const start = reversed(
        beginning(firstCubic(points[other]!, back, gapThere)));
      crossings.push(
        `M${pathPoint(start[0])}${cubicText(start)}${cubicText(here)}`);
    }
  }
  return { strands, crossings };
}

function directionOf(from: Point, to: Point): number {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  return (Math.round(angle / QUARTER) + 4) % 4;
}
