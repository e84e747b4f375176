// Bridges as knotwork. Ringforts are the vertices, bridges the edges of a
// plane graph, and the strands are the knot of that graph (its medial graph):
// two strands cross in the middle of each bridge, and between one bridge and
// the next a strand runs along the wall of the ringfort. A ringfort without a
// bridge is a closed ring. Each strand passes over and under in turn, because
// at every crossing the one that has the bridge on its right, coming from
// either end, is on top.

import { pathPoint, STEP, type Point } from './layout';

export const RING_RADIUS = 29;

interface Cubic {
  a: Point;
  b: Point;
  c: Point;
  d: Point;
}

export interface Knot {
  strands: string; // path data of all strands
  crossings: string[]; // path data of the strand on top at each bridge
}

// East, south, west, north, as on the screen (angles grow clockwise).
const DIRECTIONS: readonly Point[] = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
];

const WALL_ANGLE = (56 * Math.PI) / 180; // where a strand meets the wall
const CROSSING_HANDLE = 13;
const WALL_HANDLE = 12;
const TOP_SHARE = 0.42; // of each cubic that is drawn again on top

function plus(p: Point, q: Point, scale = 1): Point {
  return { x: p.x + q.x * scale, y: p.y + q.y * scale };
}

function onCircle(centre: Point, radius: number, angle: number): Point {
  return {
    x: centre.x + radius * Math.cos(angle),
    y: centre.y + radius * Math.sin(angle),
  };
}

// The strand from the middle of the bridge in `direction` to the wall; `turn`
// is 1 on the clockwise side of the bridge, -1 on the other.
function fromCrossing(centre: Point, direction: number, turn: number): Cubic {
  const along = DIRECTIONS[direction]!;
  const aside = DIRECTIONS[(direction + turn + 4) % 4]!;
  const a = plus(centre, along, STEP / 2);
  const angle = (direction * Math.PI) / 2 + turn * WALL_ANGLE;
  const d = onCircle(centre, RING_RADIUS, angle);
  const tangent = {
    x: -Math.sin(angle) * turn,
    y: Math.cos(angle) * turn,
  };
  return {
    a,
    b: plus(plus(a, along, -CROSSING_HANDLE), aside, CROSSING_HANDLE),
    c: plus(d, tangent, -WALL_HANDLE),
    d,
  };
}

function reversed(cubic: Cubic): Cubic {
  return { a: cubic.d, b: cubic.c, c: cubic.b, d: cubic.a };
}

// The strand between the bridges in two directions at a right angle, which has
// no room for a wall.
function corner(centre: Point, direction: number): Cubic {
  const next = (direction + 1) % 4;
  const along = DIRECTIONS[direction]!;
  const aside = DIRECTIONS[next]!;
  const a = plus(centre, along, STEP / 2);
  const d = plus(centre, aside, STEP / 2);
  const handle = 23;
  return {
    a,
    b: plus(plus(a, along, -handle), aside, handle * 0.72),
    c: plus(plus(d, aside, -handle), along, handle * 0.72),
    d,
  };
}

function cubicText(cubic: Cubic): string {
  return `C${pathPoint(cubic.b)} ${pathPoint(cubic.c)} ${pathPoint(cubic.d)}`;
}

// The first share `t` of a cubic (de Casteljau).
function beginning(cubic: Cubic, t: number): Cubic {
  const mix = (p: Point, q: Point): Point => ({
    x: p.x + (q.x - p.x) * t,
    y: p.y + (q.y - p.y) * t,
  });
  const ab = mix(cubic.a, cubic.b);
  const bc = mix(cubic.b, cubic.c);
  const cd = mix(cubic.c, cubic.d);
  const abc = mix(ab, bc);
  return { a: cubic.a, b: ab, c: abc, d: mix(abc, mix(bc, cd)) };
}

function ring(centre: Point): string {
  const r = RING_RADIUS;
  return (
    `M${pathPoint({ x: centre.x + r, y: centre.y })}` +
    `A${r} ${r} 0 1 1 ${pathPoint({ x: centre.x - r, y: centre.y })}` +
    `A${r} ${r} 0 1 1 ${pathPoint({ x: centre.x + r, y: centre.y })}Z`
  );
}

// The strand round `centre` from one bridge to the next, clockwise. `gap` is
// the quarters of a turn between them, 1 to 4.
function strand(centre: Point, direction: number, gap: number): string {
  if (gap === 1) {
    const turn = corner(centre, direction);
    return `M${pathPoint(turn.a)}${cubicText(turn)}`;
  }
  const start = fromCrossing(centre, direction, 1);
  const end = reversed(fromCrossing(centre, (direction + gap) % 4, -1));
  const sweep = (gap * Math.PI) / 2 - 2 * WALL_ANGLE;
  const large = sweep > Math.PI ? 1 : 0;
  return (
    `M${pathPoint(start.a)}${cubicText(start)}` +
    `A${RING_RADIUS} ${RING_RADIUS} 0 ${large} 1 ${pathPoint(end.a)}` +
    cubicText(end)
  );
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
      const here = beginning(firstCubic(centre, direction, gap), TOP_SHARE);
      const there = beginning(
        firstCubic(points[other]!, back, gapAfter(ends.get(other)!, back)),
        TOP_SHARE,
      );
      const start = reversed(there);
      crossings.push(
        `M${pathPoint(start.a)}${cubicText(start)}${cubicText(here)}`,
      );
    }
  }
  return { strands, crossings };
}

function directionOf(from: Point, to: Point): number {
  if (Math.abs(to.x - from.x) > Math.abs(to.y - from.y)) {
    return to.x > from.x ? 0 : 2;
  }
  return to.y > from.y ? 1 : 3;
}
