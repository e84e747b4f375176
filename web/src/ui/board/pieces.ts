// Ringforts and kings. Sides differ in sign as well as in colour: Red's forts
// bear a sun of four rays, Blue's a triskele.

import { s } from '../dom';
import { knot } from './knotwork';
import type { Point } from './layout';
import type { HillState, Position, Side } from '../../engine/api';

export const SIDE_CLASS = ['red', 'blue'] as const;

const ORIGIN: Point = { x: 0, y: 0 };

// As in tara/core/svg_board.cc.
const SIGNS = [
  'M0-13q2 11 13 13-11 2-13 13-2-11-13-13 11-2 13-13', // a sun of four rays
  'M0 0q-7-5-1-10t6 4m-5 6q8-4 9 4t-6 3m-3-7q-1 9-8 6t0-7', // a triskele
] as const;

// Returns the ground and the sign of a ringfort; its wall is knotwork.
export function fort(centre: Point, side: Side): SVGGElement {
  const transform = `translate(${centre.x} ${centre.y})`;
  return s('g.fort', { class: SIDE_CLASS[side], transform },
    s('circle.fort-ground', { r: 30 }),
    s('path.fort-sign', { d: SIGNS[side] }));
}

// Returns the walls of a side's ringforts and its bridges: one knot.
export function walls(
  points: readonly Point[],
  side: Side,
  position: Pick<Position, 'hills' | 'bridges'>,
): SVGGElement {
  const forts = position.hills.flatMap(({ owner }, hill) =>
    owner === side ? [hill] : []);
  const bridges = position.bridges
    .filter((bridge) => bridge.side === side)
    .map((bridge) => [bridge.from, bridge.to] as const);
  const { strands, crossings } = knot(points, forts, bridges);
  const name = SIDE_CLASS[side];
  const pieces = [strands, ...crossings].map((d) => [
    s('path.strand-edge', { class: name, d }),
    s('path.strand', { class: name, d }),
    s('path.strand-light', { class: name, d }),
  ]);
  const transform = 'translate(0 4)';
  return s('g', s('path.strand-shadow', { d: strands, transform }), pieces);
}

// Returns a king: a crowned boss of gold in the colours of its side. A
// stranded king stands in a broken ring.
function king(side: Side, stranded: boolean): SVGGElement {
  const jewel = (cx: number, cy: number, r: number) =>
    s('circle.king-jewel', { cx, cy, r });
  return s('g.king', { class: SIDE_CLASS[side] + (stranded ? ' stranded' : '') },
    s('circle.king-shadow', { cy: 4, r: 24 }),
    s('circle.king-rim', { r: 24 }),
    s('circle.king-ground', { r: 20 }),
    s('path.king-crown', {
      d:
        'M-12.5 7.5L-14.5 -6.5L-7 -1L0 -11L7 -1L14.5 -6.5L12.5 7.5Z' +
        'M-12 10H12V13H-12Z',
    }),
    jewel(0, -12, 2.4),
    jewel(-14.5, -7.5, 2),
    jewel(14.5, -7.5, 2),
    stranded && s('circle.king-stranded', { r: 34 }));
}

// Returns a king on its hill; on a ringfort of the other side it is stranded.
export function kingOn(
  { x, y }: Point,
  { owner, king: side }: HillState,
): SVGGElement | null {
  if (side === null) return null;
  const transform = `translate(${x} ${y})`;
  return s('g', { transform }, king(side, owner !== side));
}

// A piece by itself, for the panels.
export function badge(side: Side, withKing = false): SVGSVGElement {
  const name = SIDE_CLASS[side];
  const viewBox = withKing ? '-27 -25 54 54' : '-37 -37 74 74';
  const content = withKing
    ? king(side, false)
    : [
        fort(ORIGIN, side),
        s('circle.strand-edge', { class: name, r: 29 }),
        s('circle.strand', { class: name, r: 29 }),
      ];
  return s('svg.badge', { class: name, viewBox, 'aria-hidden': 'true' }, content);
}
