// Ringforts and kings. Sides differ in sign as well as in colour: Red's forts
// bear a sun of four rays, Blue's a triskele.

import { s } from '../dom';
import { knot } from './knotwork';
import { round, type Point } from './layout';
import type { Position, Side } from '../../engine/api';

export const SIDE_CLASS = ['red', 'blue'] as const;

function sun(): string {
  let data = '';
  for (let ray = 0; ray < 4; ++ray) {
    const turn = (ray * Math.PI) / 2;
    const at = (radius: number, angle: number): string =>
      `${round(radius * Math.cos(angle))} ${round(radius * Math.sin(angle))}`;
    data +=
      `M${at(3.2, turn)}` +
      `Q${at(8, turn - 0.62)} ${at(13.5, turn)}` +
      `Q${at(8, turn + 0.62)} ${at(3.2, turn)}Z`;
  }
  return data;
}

// Three spirals that leave the centre a third of a turn apart.
function triskele(): string {
  let data = '';
  for (let arm = 0; arm < 3; ++arm) {
    const turn = (arm * 2 * Math.PI) / 3 - Math.PI / 2;
    const points: string[] = [];
    const eye = { x: 7.4 * Math.cos(turn), y: 7.4 * Math.sin(turn) };
    for (let i = 0; i <= 14; ++i) {
      const t = i / 14;
      const angle = turn + Math.PI + t * 4.9;
      const radius = 7.4 * (1 - t) * (1 - 0.35 * t) + 1.2;
      points.push(
        `${round(eye.x + radius * Math.cos(angle))} ` +
          `${round(eye.y + radius * Math.sin(angle))}`,
      );
    }
    data += `M0 0L${points.join('L')}`;
  }
  return data;
}

const SUN = sun();
const TRISKELE = triskele();

// Returns the ground and the sign of a ringfort; its wall is knotwork.
export function fort(centre: Point, side: Side): SVGGElement {
  return s(
    'g',
    {
      class: `fort ${SIDE_CLASS[side]}`,
      transform: `translate(${centre.x} ${centre.y})`,
    },
    s('circle', { class: 'fort-ground', r: 30 }),
    s('path', { class: 'fort-sign', d: side === 0 ? SUN : TRISKELE }),
  );
}

// Returns the walls of a side's ringforts and its bridges: one knot.
export function walls(
  points: readonly Point[],
  side: Side,
  position: Pick<Position, 'hills' | 'bridges'>,
): SVGGElement {
  const forts = position.hills.flatMap(({ owner }, hill) =>
    owner === side ? [hill] : [],
  );
  const bridges = position.bridges
    .filter((bridge) => bridge.side === side)
    .map((bridge) => [bridge.from, bridge.to] as const);
  const { strands, crossings } = knot(points, forts, bridges);
  const name = SIDE_CLASS[side];
  const pieces = [strands, ...crossings].flatMap((d, i) => [
    s('path', { class: `strand-edge ${name}${i > 0 ? ' top' : ''}`, d }),
    s('path', { class: `strand ${name}`, d }),
    s('path', { class: `strand-light ${name}`, d }),
  ]);
  const shadow = s('path', {
    class: 'strand-shadow',
    d: strands,
    transform: 'translate(0 4)',
  });
  return s('g', {}, shadow, ...pieces);
}

// Returns a king: a crowned boss of gold in the colours of its side. A
// stranded king stands in a broken ring.
export function king(side: Side, stranded: boolean): SVGGElement {
  const name = `king ${SIDE_CLASS[side]}${stranded ? ' stranded' : ''}`;
  return s(
    'g',
    { class: name },
    s('circle', { class: 'king-shadow', cy: 4, r: 24 }),
    s('circle', { class: 'king-rim', r: 24 }),
    s('circle', { class: 'king-ground', r: 20 }),
    s('path', {
      class: 'king-crown',
      d:
        'M-12.5 7.5L-14.5 -6.5L-7 -1L0 -11L7 -1L14.5 -6.5L12.5 7.5Z' +
        'M-12 10H12V13H-12Z',
    }),
    s('circle', { class: 'king-jewel', cx: 0, cy: -12, r: 2.4 }),
    s('circle', { class: 'king-jewel', cx: -14.5, cy: -7.5, r: 2 }),
    s('circle', { class: 'king-jewel', cx: 14.5, cy: -7.5, r: 2 }),
    stranded && s('circle', { class: 'king-stranded', r: 34 }),
  );
}

// A piece by itself, for the panels.
export function badge(side: Side, withKing = false): SVGSVGElement {
  const content = withKing
    ? king(side, false)
    : s(
        'g',
        {},
        fort({ x: 0, y: 0 }, side),
        s('circle', { class: `strand-edge ${SIDE_CLASS[side]}`, r: 29 }),
        s('circle', { class: `strand ${SIDE_CLASS[side]}`, r: 29 }),
      );
  return s(
    'svg',
    {
      class: `badge ${SIDE_CLASS[side]}`,
      viewBox: withKing ? '-27 -25 54 54' : '-37 -37 74 74',
      'aria-hidden': 'true',
    },
    content,
  );
}
