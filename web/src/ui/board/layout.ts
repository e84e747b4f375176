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
  return {
    x: MARGIN + hill.file * STEP,
    y: MARGIN + (6 - hill.rank) * STEP,
  };
}

// Returns the number rounded for path data.
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function pathPoint(p: Point): string {
  return `${round(p.x)} ${round(p.y)}`;
}
