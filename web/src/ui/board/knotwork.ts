// Bridges as knotwork. Ringforts are the vertices, bridges the edges of a
// plane graph, and the strands are the knot of that graph (its medial graph):
// two strands cross in the middle of each bridge, and between one bridge and
// the next a strand runs along the wall of the ringfort. A ringfort without a
// bridge is a closed ring. Each strand passes over and under in turn, because
// at every crossing the one that has the bridge on its right, coming from
// either end, is on top. tara/core/svg_board.cc draws the same.

import { path, plus, STEP, unit, type Point } from './layout';

export const RING_RADIUS = 29;

export interface Knot {
  strands: string; // path data of all strands
  crossings: string[]; // path data of the strand on top at each bridge
}

// Directions are counted in quarters of a turn: east, south, west, north.
const QUARTER = Math.PI / 2;
const WALL_ANGLE = (56 * Math.PI) / 180; // where a strand meets the wall

// The point `along` units in a direction and `aside` units in the next one,
// clockwise; `turn` is 1, or -1 for the one before.
function at(
  centre: Point,
  direction: number,
  along: number,
  aside: number,
  turn = 1,
): Point {
  const far = plus(centre, unit(direction * QUARTER), along);
  return plus(far, unit((direction + turn) * QUARTER), aside);
}

// The strand from the middle of the bridge in `direction` to the wall: a cubic
// curve. `turn` is 1 on the clockwise side of the bridge, -1 on the other.
function fromCrossing(centre: Point, direction: number, turn: number): Point[] {
  const angle = direction * QUARTER + turn * WALL_ANGLE;
  const wall = plus(centre, unit(angle), RING_RADIUS);
  return [
    at(centre, direction, STEP / 2, 0),
    at(centre, direction, STEP / 2 - 13, 13, turn),
    plus(wall, unit(angle + turn * QUARTER), -12),
    wall,
  ];
}

function arcTo(end: Point, isLarge: boolean): string {
  return path(`A${RING_RADIUS} ${RING_RADIUS} 0 ${isLarge ? 1 : 0} 1 `, end);
}

function ring(centre: Point): string {
  const east = at(centre, 0, RING_RADIUS, 0);
  const west = at(centre, 2, RING_RADIUS, 0);
  return `${path('M', east)}${arcTo(west, true)}${arcTo(east, true)}Z`;
}

// The strand round `centre` from one bridge to the next, clockwise. `gap` is
// the quarters of a turn between them, 1 to 4.
function strand(centre: Point, direction: number, gap: number): string {
  const [start, ...toWall] = fromCrossing(centre, direction, 1);
  const beginning = path('M', start!);
  if (gap === 1) {
    // There is no room for a wall.
    const corner = [[27, 16.5], [16.5, 27], [0, STEP / 2]] as const;
    return beginning + path('C', ...corner.map(([along, aside]) =>
      at(centre, direction, along, aside)));
  }
  const [wall, ...toCrossing] =
    fromCrossing(centre, direction + gap, -1).reverse();
  const isLarge = gap * QUARTER - 2 * WALL_ANGLE > Math.PI;
  return beginning + path('C', ...toWall) + arcTo(wall!, isLarge) +
    path('C', ...toCrossing);
}

// Returns the knot of ringforts at `points` (by hill) that are joined by
// `bridges`; a ringfort of `forts` may have none.
export function knot(
  points: readonly Point[],
  forts: readonly number[],
  bridges: readonly (readonly [number, number])[],
): Knot {
  const directions = new Map(forts.map((fort) => [fort, new Set<number>()]));
  const crossings = bridges.map(([one, other]) => {
    const direction = directionOf(points[one]!, points[other]!);
    directions.get(one)!.add(direction);
    directions.get(other)!.add((direction + 2) % 4);
    const end = (sign: number): Point =>
      at(points[one]!, direction, STEP / 2 - 8 * sign, 8 * sign);
    return path('M', end(1)) + path('L', end(-1));
  });
  const strands = [...directions].flatMap(([fort, bridged]) => {
    const centre = points[fort]!;
    if (bridged.size === 0) return ring(centre);
    return [...bridged].map((direction) => {
      const isNext = (gap: number): boolean =>
        bridged.has((direction + gap) % 4);
      return strand(centre, direction, [1, 2, 3, 4].find(isNext)!);
    });
  });
  return { strands: strands.join(''), crossings };
}

function directionOf(from: Point, to: Point): number {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  return (Math.round(angle / QUARTER) + 4) % 4;
}
