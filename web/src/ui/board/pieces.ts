// Ringforts and kings. Sides differ in sign as well as in colour: Red's forts
// bear a sun of four rays, Blue's a triskele.

import { s } from '../dom';
import { knot } from './knotwork';
import { pathPoint, plus, unit, type Point } from './layout';
import type { Position, Side } from '../../engine/api';

export const SIDE_CLASS = ['red', 'blue'] as const;

const ORIGIN: Point = { x: 0, y: 0 };

function at(radius: number, angle: number, centre = ORIGIN): string {
  return pathPoint(plus(centre, unit(angle), radius));
}

function sun(): string {
  const rays = [0, 1, 2, 3].map((ray) => {
    const turn = (ray * Math.PI) / 2;
    return (
      `M${at(3.2, turn)}` +
      `Q${at(8, turn - 0.62)} ${at(13.5, turn)}` +
      `Q${at(8, turn + 0.62)} ${at(3.2, turn)}Z`
    );
  });
  return rays.join('');
}

// Three spirals that leave the centre a third of a turn apart.
function triskele(): string {
  const arms = [0, 1, 2].map((arm) => {
    const turn = (arm * 2 * Math.PI) / 3 - Math.PI / 2;
    const eye = plus(ORIGIN, unit(turn), 7.4);
    const points = Array.from({ length: 15 }, (_, i) => {
      const t = i / 14;
      const radius = 7.4 * (1 - t) * (1 - 0.35 * t) + 1.2;
      return at(radius, turn + Math.PI + t * 4.9, eye);
    });
    return `M0 0L${points.join('L')}`;
  });
  return arms.join('');
}

const SUN = sun();
const TRISKELE = triskele();

// Returns the ground and the sign of a ringfort; its wall is knotwork.
export function fort(centre: Point, side: Side): SVGGElement {
  const transform = `translate(${centre.x} ${centre.y})`;
  return s('g.fort', { class: SIDE_CLASS[side], transform },
    s('circle.fort-ground', { r: 30 }),
    s('path.fort-sign', { d: side === 0 ? SUN : TRISKELE }));
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
  const pieces = [strands, ...crossings].map((d, i) => [
    s('path.strand-edge', { class: `${name}${i > 0 ? ' top' : ''}`, d }),
    s('path.strand', { class: name, d }),
    s('path.strand-light', { class: name, d }),
  ]);
  const transform = 'translate(0 4)';
  return s('g', s('path.strand-shadow', { d: strands, transform }), pieces);
}

// Returns a king: a crowned boss of gold in the colours of its side. A
// stranded king stands in a broken ring.
export function king(side: Side, stranded: boolean): SVGGElement {
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
