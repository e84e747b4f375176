// What of the board never changes: frame, plait, meadow, paths and hills.

import { s, type Attributes } from '../dom';
import { CENTRE, hillPoint, path, pathPoint, plus, SIZE, unit } from './layout';
import type { Geometry } from '../../engine/api';

// Squares with cut and rounded corners, as in tara/core/svg_board.cc: the
// frame, and the meadow in it.
const FRAME =
  'M712 6q34 0 58 24l48 48q24 24 24 58v576q0 34-24 58l-48 48q-24 24-58 24' +
  'h-576q-34 0-58-24l-48-48q-24-24-24-58v-576q0-34 24-58l48-48q24-24 58-24z';
const MEADOW =
  'M694 48q26 0 44 18l44 44q18 18 18 44v540q0 26-18 44l-44 44q-18 18-44 18' +
  'h-540q-26 0-44-18l-44-44q-18-18-18-44v-540q0-26 18-44l44-44q18-18 44-18z';

// One of the two strands of the plait round the board, which swing from side to
// side against each other: 88 equal waves, a crossing after each.
function plaitStrand(sign: 1 | -1): string {
  type Way = readonly [x: number, y: number];
  const waves = (count: number, [x, y]: Way, step: number, handle: number) => {
    const end = `${step * x} ${step * y}`;
    const bend = `${handle * (x + sign * y)} ${handle * (y - sign * x)}`;
    return `q${bend} ${end}${`t${end}`.repeat(count - 1)}`;
  };
  const sides: readonly Way[] = [[1, 0], [0, 1], [-1, 0], [0, -1]];
  const line = sides.map((side, i) => {
    const next = sides[(i + 1) % 4]!;
    const corner = [side[0] + next[0], side[1] + next[1]] as const;
    return waves(18, side, 34, 17) + waves(4, corner, 23, 12);
  });
  return `M${CENTRE - 306} ${CENTRE - 398}${line.join('')}Z`;
}

// Returns the gradients and the clip of the board, which the style sheet names,
// too.
export function definitions(): SVGDefsElement {
  const stop = (offset: number, colour: string): SVGStopElement =>
    s('stop', { offset, style: `stop-color: var(${colour})` });
  type Gradient = readonly [name: string, cx: string, cy: string, r: string];
  const gradient = ([name, cx, cy, r]: Gradient, of = name) =>
    s('radialGradient', { id: `${name}-fill`, class: name, cx, cy, r },
      stop(0, `--${of}-light`), stop(1, `--${of}-deep`));
  return s('defs',
    gradient(['meadow', '42%', '34%', '80%']),
    gradient(['hill', '40%', '32%', '75%']),
    gradient(['red', '40%', '32%', '80%'], 'side'),
    gradient(['blue', '40%', '32%', '80%'], 'side'),
    s('clipPath', { id: 'meadow-clip' }, s('path', { d: MEADOW })));
}

function frame(): SVGGElement {
  const [one, other] = [plaitStrand(1), plaitStrand(-1)];
  const draw = (d: string, more: Attributes = {}) => [
    s('path.plait-edge', { d, ...more }),
    s('path.plait-strand', { d, ...more }),
  ];
  return s('g.frame',
    s('path.frame-wood', { d: FRAME }),
    draw(one),
    draw(other),
    // The first again at every other crossing, where it is on top.
    draw(one, {
      pathLength: 88,
      'stroke-dasharray': '.6 1.4',
      'stroke-dashoffset': '.3',
    }),
    s('path.meadow', { d: MEADOW }));
}

// Rings of a map round the hill of Tara in the centre.
function contours(): SVGGElement {
  const middle = { x: CENTRE, y: CENTRE };
  const at = (ring: number, i: number): string => {
    const angle = (2 * Math.PI * i) / 48;
    const wobble = 1 + 0.07 * Math.sin(3 * angle + ring) +
      0.05 * Math.sin(5 * angle - 1.7 * ring);
    return pathPoint(plus(middle, unit(angle), (46 + ring * 57) * wobble));
  };
  const rings = Array.from({ length: 6 }, (_, ring) => {
    const points = Array.from({ length: 48 }, (_, i) => at(ring, i));
    return s('path', { d: `M${points.join('L')}Z` });
  });
  return s('g.contours', rings);
}

function paths(geometry: Geometry): SVGPathElement {
  const points = geometry.hills.map(hillPoint);
  const lines = geometry.hills.flatMap(({ index, neighbours }) =>
    neighbours.filter((next) => next > index).map((next) =>
      path('M', points[index]!) + path('L', points[next]!)));
  return s('path.paths', { d: lines.join('') });
}

function labels(geometry: Geometry): SVGGElement {
  const group = s('g.labels');
  const near = 55; // units from the outermost hills
  for (let i = 0; i < geometry.size; ++i) {
    const along = CENTRE + (i - 3) * 100;
    const isCorner = i === 0 || i === geometry.size - 1; // no hill
    const beside = isCorner ? 200 + near : 300 + near;
    for (const at of [CENTRE - beside, CENTRE + beside]) {
      group.append(
        s('text', { x: along, y: at }, 'ABCDEFG'[i]!),
        s('text', { x: at, y: along }, geometry.size - i));
    }
  }
  return group;
}

// Returns the land. It is a drawing by itself, below that of the pieces, so
// that the browser paints it but once.
export function land(geometry: Geometry): SVGSVGElement {
  const hills = geometry.hills.map((hill) => {
    const { x, y } = hillPoint(hill);
    return [
      s('circle.hill-foot', { cx: x, cy: y + 2, r: 36 }),
      s('circle.hill', { cx: x, cy: y, r: 34 }),
      s('circle.hill-crest', { cx: x - 2, cy: y - 3, r: 22 }),
    ];
  });
  const viewBox = `0 0 ${SIZE} ${SIZE}`;
  return s('svg.land', { viewBox, 'aria-hidden': 'true' },
    frame(),
    contours(),
    paths(geometry),
    labels(geometry),
    s('g.hills', hills));
}
