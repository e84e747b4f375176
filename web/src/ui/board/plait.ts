// The plait round the board: two strands along a closed line, which swing from
// side to side against each other and pass over and under in turn.

import { CENTRE, pathPoint, plus, type Point } from './layout';

export interface Plait {
  strands: readonly [string, string];
  crossings: readonly [string[], string[]]; // pieces of each strand on top
}

const WAVE = 34; // units from one crossing to the next, about
const SWING = 8.5;

// A square with cut and rounded corners round the centre: half its width,
// and how much of each corner is cut.
export function outline(half: number, cut: number): Point[] {
  const signs = [[1, -1], [1, 1], [-1, 1], [-1, -1]] as const;
  return signs.flatMap(([sx, sy], i) => {
    const pair = [
      { x: CENTRE + sx * (half - cut), y: CENTRE + sy * half },
      { x: CENTRE + sx * half, y: CENTRE + sy * (half - cut) },
    ];
    return i % 2 === 0 ? pair : pair.reverse();
  });
}

// Path data of the closed line through `corners`, rounded by `radius`.
export function roundedPath(corners: readonly Point[], radius: number): string {
  let data = '';
  corners.forEach((corner, i) => {
    const before = corners[(i + corners.length - 1) % corners.length]!;
    const after = corners[(i + 1) % corners.length]!;
    const from = towards(corner, before, radius);
    const to = towards(corner, after, radius);
    data += `${i === 0 ? 'M' : 'L'}${pathPoint(from)}`;
    data += `Q${pathPoint(corner)} ${pathPoint(to)}`;
  });
  return `${data}Z`;
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  return plus(from, plus(to, from, -1), distance / length);
}

// Points on a path at equal distances, with its normals there.
function samples(
  path: SVGPathElement,
  count: number,
): { point: Point; normal: Point }[] {
  const length = path.getTotalLength();
  const at = (i: number): Point =>
    path.getPointAtLength((((i % count) + count) % count) * (length / count));
  return Array.from({ length: count }, (_, i) => {
    const { x, y } = plus(at(i + 1), at(i - 1), -1);
    const size = Math.hypot(x, y) || 1;
    return { point: at(i), normal: { x: y / size, y: -x / size } };
  });
}

// Path data through points, by Catmull-Rom splines.
function smooth(points: readonly Point[], closed: boolean): string {
  const n = points.length;
  const at = (i: number): Point =>
    closed ? points[(i + n) % n]! : points[Math.min(Math.max(i, 0), n - 1)]!;
  let data = `M${pathPoint(at(0))}`;
  for (let i = 0; i < (closed ? n : n - 1); ++i) {
    const [p, q, r, t] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    const b = plus(q, plus(r, p, -1), 1 / 6);
    const c = plus(r, plus(t, q, -1), -1 / 6);
    data += `C${pathPoint(b)} ${pathPoint(c)} ${pathPoint(r)}`;
  }
  return closed ? `${data}Z` : data;
}

// Returns the plait along a closed path.
export function plait(path: SVGPathElement): Plait {
  const perWave = 6;
  // An even number of crossings, or the strands would not close.
  const waves = 2 * Math.round(path.getTotalLength() / WAVE / 2);
  const line = samples(path, waves * perWave);
  const swung = (sign: number): Point[] =>
    line.map(({ point, normal }, i) =>
      plus(point, normal, sign * SWING * Math.sin((Math.PI * i) / perWave)));
  const strands = [swung(1), swung(-1)] as const;
  const crossings: [string[], string[]] = [[], []];
  for (let wave = 0; wave < waves; ++wave) {
    const top = wave % 2;
    const points = strands[top]!;
    const at = (i: number): Point =>
      points[(wave * perWave + i + points.length) % points.length]!;
    crossings[top]!.push(smooth([-2, -1, 0, 1, 2].map(at), false));
  }
  return {
    strands: [smooth(strands[0], true), smooth(strands[1], true)],
    crossings,
  };
}
