// What of the board never changes: frame, plait, meadow, paths and hills.

import { s } from '../dom';
import { CENTRE, hillPoint, pathPoint, SIZE, type Point } from './layout';
import { outline, plait, roundedPath } from './plait';
import type { Geometry } from '../../engine/api';

const HALF = SIZE / 2;

function meadowPath(): string {
  return roundedPath(outline(HALF - 48, 80), 26);
}

// Returns the gradients and the clip of the board, which the style sheet names,
// too.
export function definitions(): SVGDefsElement {
  const stop = (offset: number, name: string): SVGStopElement =>
    s('stop', { offset, class: name });
  return s(
    'defs',
    {},
    s(
      'radialGradient',
      { id: 'meadow-fill', cx: '42%', cy: '34%', r: '80%' },
      stop(0, 'meadow-light'),
      stop(1, 'meadow-deep'),
    ),
    s(
      'radialGradient',
      { id: 'hill-fill', cx: '40%', cy: '32%', r: '75%' },
      stop(0, 'hill-light'),
      stop(1, 'hill-deep'),
    ),
    s(
      'radialGradient',
      { id: 'red-fill', cx: '40%', cy: '32%', r: '80%' },
      stop(0, 'red-light'),
      stop(1, 'red-deep'),
    ),
    s(
      'radialGradient',
      { id: 'blue-fill', cx: '40%', cy: '32%', r: '80%' },
      stop(0, 'blue-light'),
      stop(1, 'blue-deep'),
    ),
    s('clipPath', { id: 'meadow-clip' }, s('path', { d: meadowPath() })),
  );
}

function frame(): SVGGElement {
  const group = s('g', { class: 'frame' });
  group.append(
    s('path', {
      class: 'frame-wood',
      d: roundedPath(outline(HALF - 6, 96), 34),
    }),
  );
  const line = s('path', { d: roundedPath(outline(HALF - 27, 88), 30) });
  const { strands, crossings } = plait(line);
  strands.forEach((strand) => {
    group.append(
      s('path', { class: 'plait-edge', d: strand }),
      s('path', { class: 'plait-strand', d: strand }),
    );
  });
  crossings.forEach((pieces) => {
    for (const piece of pieces) {
      group.append(
        s('path', { class: 'plait-edge', d: piece }),
        s('path', { class: 'plait-strand', d: piece }),
      );
    }
  });
  group.append(
    s('path', {
      class: 'meadow',
      d: meadowPath(),
    }),
  );
  return group;
}

// Rings of a map round the hill of Tara in the centre.
function contours(): SVGGElement {
  const group = s('g', { class: 'contours' });
  for (let ring = 0; ring < 6; ++ring) {
    const points: Point[] = [];
    const count = 48;
    for (let i = 0; i < count; ++i) {
      const angle = (2 * Math.PI * i) / count;
      const wobble =
        1 +
        0.07 * Math.sin(3 * angle + ring) +
        0.05 * Math.sin(5 * angle - 1.7 * ring);
      const radius = (46 + ring * 57) * wobble;
      points.push({
        x: CENTRE + radius * Math.cos(angle),
        y: CENTRE + radius * Math.sin(angle),
      });
    }
    group.append(
      s('path', { d: `M${points.map((p) => pathPoint(p)).join('L')}Z` }),
    );
  }
  return group;
}

function paths(geometry: Geometry): SVGPathElement {
  let data = '';
  for (const hill of geometry.hills) {
    for (const neighbour of hill.neighbours) {
      if (neighbour < hill.index) continue;
      data += `M${pathPoint(hillPoint(hill))}`;
      data += `L${pathPoint(hillPoint(geometry.hills[neighbour]!))}`;
    }
  }
  return s('path', { class: 'paths', d: data });
}

function labels(geometry: Geometry): SVGGElement {
  const group = s('g', { class: 'labels' });
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
  const hills = s('g', { class: 'hills' });
  for (const hill of geometry.hills) {
    const { x, y } = hillPoint(hill);
    hills.append(
      s('circle', { class: 'hill-foot', cx: x, cy: y + 2, r: 36 }),
      s('circle', { class: 'hill', cx: x, cy: y, r: 34 }),
      s('circle', { class: 'hill-crest', cx: x - 2, cy: y - 3, r: 22 }),
    );
  }
  return s(
    'svg',
    { class: 'land', viewBox: `0 0 ${SIZE} ${SIZE}`, 'aria-hidden': 'true' },
    frame(),
    contours(),
    paths(geometry),
    labels(geometry),
    hills,
  );
}
