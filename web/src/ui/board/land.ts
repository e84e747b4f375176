// What of the board never changes: frame, plait, meadow, paths and hills.

import { s } from '../dom';
import { CENTRE, hillPoint, pathPoint, plus, SIZE, unit } from './layout';
import { outline, plait, roundedPath } from './plait';
import type { Geometry } from '../../engine/api';

const HALF = SIZE / 2;

function meadowPath(): string {
  return roundedPath(outline(HALF - 48, 80), 26);
}

// Returns the gradients and the clip of the board, which the style sheet names,
// too.
export function definitions(): SVGDefsElement {
  const stop = (offset: number, colour: string): SVGStopElement => {
    const made = s('stop', { offset });
    made.style.stopColor = `var(${colour})`;
    return made;
  };
  const gradient = (name: string, cx: string, cy: string, r: string) =>
    s('radialGradient', { id: `${name}-fill`, cx, cy, r },
      stop(0, `--${name}-light`), stop(1, `--${name}-deep`));
  return s('defs',
    gradient('meadow', '42%', '34%', '80%'),
    gradient('hill', '40%', '32%', '75%'),
    gradient('red', '40%', '32%', '80%'),
    gradient('blue', '40%', '32%', '80%'),
    s('clipPath', { id: 'meadow-clip' }, s('path', { d: meadowPath() })));
}

function frame(): SVGGElement {
  const line = s('path', { d: roundedPath(outline(HALF - 27, 88), 30) });
  const { strands, crossings } = plait(line);
  return s('g.frame',
    s('path.frame-wood', { d: roundedPath(outline(HALF - 6, 96), 34) }),
    [...strands, ...crossings.flat()].map((d) => [
      s('path.plait-edge', { d }),
      s('path.plait-strand', { d }),
    ]),
    s('path.meadow', { d: meadowPath() }));
}

// Rings of a map round the hill of Tara in the centre.
function contours(): SVGGElement {
  const at = (ring: number, i: number): string => {
    const angle = (2 * Math.PI * i) / 48;
    const wobble =
      1 +
      0.07 * Math.sin(3 * angle + ring) +
      0.05 * Math.sin(5 * angle - 1.7 * ring);
    const middle = { x: CENTRE, y: CENTRE };
    return pathPoint(plus(middle, unit(angle), (46 + ring * 57) * wobble));
  };
  const rings = Array.from({ length: 6 }, (_, ring) => {
    const points = Array.from({ length: 48 }, (_, i) => at(ring, i));
    return s('path', { d: `M${points.join('L')}Z` });
  });
  return s('g.contours', rings);
}

function paths(geometry: Geometry): SVGPathElement {
  const lines = geometry.hills.flatMap((hill) =>
    hill.neighbours
      .filter((next) => next > hill.index)
      .map((next) => [hill, geometry.hills[next]!].map(hillPoint)));
  const d = lines.map((ends) => `M${ends.map(pathPoint).join('L')}`).join('');
  return s('path.paths', { d });
}

function labels(geometry: Geometry): SVGGElement {
  const group = s('g.labels');
  const near = 55; // units from the outermost hills
  for (let i = 0; i < geometry.size; ++i) {
    const along = CENTRE + (i - 3) * 100;
    const low = CENTRE - 300 - near;
    const high = CENTRE + 300 + near;
    const file = String.fromCharCode(65 + i);
    const rank = String(geometry.size - i);
    const corner = i === 0 || i === geometry.size - 1;
    const inset = corner ? 100 : 0; // the corners are not hills
    group.append(
      s('text', { x: along, y: high - inset }, file),
      s('text', { x: along, y: low + inset }, file),
      s('text', { x: low + inset, y: along }, rank),
      s('text', { x: high - inset, y: along }, rank),
    );
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
