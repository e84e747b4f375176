// Small drawings of boards that explain a rule, made of the pieces of the board
// on the page. They use its gradients and arrow heads.

import { h, s } from '../dom';
import { CENTRE, hillPoint, SIZE, STEP, type Point } from './layout';
import { areaShade, arrow } from './marks';
import { fort, kingOn, SIDE_CLASS, walls } from './pieces';
import type { Geometry, HillIndex, Position, Side } from '../../engine/api';

export interface Drawing {
  // Ranks 7 to 1 as in the text of a position (docs/reference/rules.md section
  // 12.2); also + for a hill that may be acted on, x for one that may not.
  readonly board: string;
  readonly side?: Side; // whose the + are; default: Red
  readonly arrow?: readonly [string, string]; // a king's move
  readonly numbers?: Readonly<Record<string, number>>; // by hill
  readonly links?: readonly (readonly [string, string])[]; // else all neighbours
  readonly seat?: number; // in doubles: the other rows are shaded
  readonly caption: string;
}

// What stands on a hill of a drawing: a letter of section 1.1, '.', '+' or 'x'.
export function lettersOf(board: string, geometry: Geometry): string[] {
  const ranks = board
    .split('/')
    .map((rank) => rank.replace(/\d/g, (digit) => '.'.repeat(Number(digit))));
  return geometry.hills.map(({ file, rank }) => {
    const inset = rank === 0 || rank === 6 ? 1 : 0; // the corners are not hills
    return ranks[6 - rank]![file - inset]!;
  });
}

const OWNERS: Readonly<Record<string, Side>> =
  { r: 0, R: 0, T: 0, b: 1, B: 1, S: 1 };
const KINGS: Readonly<Record<string, Side>> = { R: 0, S: 0, B: 1, T: 1 };

// The inverse, of letters and '.'.
export function boardOf(
  letters: readonly string[],
  geometry: Geometry,
): string {
  const ranks = Array.from({ length: geometry.size }, () => '');
  for (const { index, rank } of geometry.hills) {
    ranks[geometry.size - 1 - rank] += letters[index]!;
  }
  return ranks
    .map((rank) => rank.replace(/\.+/g, (run) => String(run.length)))
    .join('/');
}

// What of a position is drawn.
export type Placed = Pick<Position, 'hills' | 'bridges'>;

// Returns what letters stand for, with bridges by these links, or else between
// all neighbours of one side.
export function placed(
  letters: readonly string[],
  geometry: Geometry,
  links?: readonly (readonly [HillIndex, HillIndex])[],
): Placed {
  const hills = letters.map((letter) => ({
    owner: OWNERS[letter] ?? null,
    king: KINGS[letter] ?? null,
  }));
  const pairs =
    links ??
    geometry.hills.flatMap(({ index, neighbours }) =>
      neighbours
        .filter((next) => next > index)
        .map((next) => [index, next] as const),
    );
  const bridges = pairs.flatMap(([from, to]) => {
    const side = hills[from]!.owner;
    if (side === null || side !== hills[to]!.owner) return [];
    return [{ from, to, side }];
  });
  return { hills, bridges };
}

// Returns the drawing with its caption.
export function figure(drawing: Drawing, geometry: Geometry): HTMLElement {
  return h('figure.drawing',
    picture(drawing, geometry),
    h('figcaption', drawing.caption));
}

function picture(drawing: Drawing, geometry: Geometry): SVGSVGElement {
  const letters = lettersOf(drawing.board, geometry);
  const links = drawing.links?.map(([one, other]) => {
    return [indexOf(one, geometry), indexOf(other, geometry)] as const;
  });
  const pieces = placed(letters, geometry, links);
  const points = geometry.hills.map(hillPoint);
  const edge = 34; // of the drawing on all sides, without the frame
  const size = SIZE - 2 * edge;
  return s(
    'svg',
    {
      viewBox: `${edge} ${edge} ${size} ${size}`,
      'aria-hidden': 'true', // the caption says it
    },
    s('rect.meadow', { x: edge, y: edge, width: size, height: size }),
    points.map(({ x, y }) => s('circle.hill', { cx: x, cy: y, r: 34 })),
    names(geometry),
    pieces.hills.map(({ owner }, hill) =>
      owner !== null && fort(points[hill]!, owner)),
    ([0, 1] as const).map((side) => walls(points, side, pieces)),
    pieces.hills.map((state, hill) => kingOn(points[hill]!, state)),
    s('g.marks', marks(drawing, letters, points, geometry)),
    areaShade(drawing.seat ?? null),
  );
}

// The names of files and ranks, below and on the left.
function names(geometry: Geometry): SVGGElement {
  const group = s('g.labels.drawn-labels');
  for (let i = 0; i < geometry.size; ++i) {
    const along = CENTRE + (i - 3) * STEP;
    group.append(
      s('text', { x: along, y: SIZE - 62 }, 'ABCDEFG'[i]!),
      s('text', { x: 60, y: along }, String(geometry.size - i)),
    );
  }
  return group;
}

function indexOf(name: string, geometry: Geometry): HillIndex {
  return geometry.hills.findIndex((hill) => hill.name === name);
}

function marks(
  { side = 0, arrow: move, numbers = {} }: Drawing,
  letters: readonly string[],
  points: readonly Point[],
  geometry: Geometry,
): SVGElement[] {
  const result: SVGElement[] = letters.flatMap((letter, hill) => {
    const { x, y } = points[hill]!;
    if (letter === '+') {
      const name = `use-build ${SIDE_CLASS[side]}`;
      return [s('circle', { class: name, cx: x, cy: y, r: 15 })];
    }
    if (letter !== 'x') return [];
    const d = `M${x - 16} ${y - 16}l32 32m0 -32l-32 32`;
    return [s('path.drawn-cross', { d })];
  });
  for (const [name, number] of Object.entries(numbers)) {
    const { x, y } = points[indexOf(name, geometry)]!;
    result.push(
      s('circle.drawn-number', { cx: x, cy: y, r: 22 }),
      s('text.drawn-text', { x, y }, number),
    );
  }
  if (move !== undefined) {
    const [from, to] = move.map((name) => points[indexOf(name, geometry)]!);
    result.push(arrow(from!, to!, 'drawn-arrow'));
  }
  return result;
}
