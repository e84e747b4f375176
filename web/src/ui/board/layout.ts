// Where hills lie in the drawing: 100 units a step, y down, Red South below.

import type { Hill } from '../../engine/api';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const STEP = 100;
const MARGIN = 124; // from the outermost hills to the edge of the drawing
export const SIZE = 6 * STEP + 2 * MARGIN;
export const CENTRE = SIZE / 2;

export function hillPoint(hill: Hill): Point {
  return { x: MARGIN + hill.file * STEP, y: MARGIN + (6 - hill.rank) * STEP };
}

// Returns a point as path data has it, rounded.
export function pathPoint({ x, y }: Point): string {
  return [x, y].map((value) => Math.round(value * 10) / 10).join(' ');
}

// Returns a command of path data with its points.
export function path(command: string, ...points: Point[]): string {
  return command + points.map(pathPoint).join(' ');
}

export function plus(p: Point, q: Point, scale = 1): Point {
  return { x: p.x + q.x * scale, y: p.y + q.y * scale };
}

// The point at a distance of 1 from the origin; angles grow clockwise from the
// east, as on the screen.
export function unit(angle: number): Point {
  return { x: Math.cos(angle), y: Math.sin(angle) };
}
