// The hills as a grid of cells that take clicks, drags and keys. One cell at
// a time is in the order of Tab; arrow keys move it (the grid pattern of the
// ARIA Authoring Practices).

import { s, setAttribute } from '../dom';
import { hillPoint, SIZE } from './layout';
import type { Geometry, HillIndex } from '../../engine/api';
import type { Use } from '../selection';

// What hills are pointed at for.
export interface HillInput {
  pointAt(hill: HillIndex): void;
  drag(from: HillIndex, to: HillIndex): void;
  forget(): void; // what was chosen
}

const DRAG_DISTANCE_PX = 10;
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

interface Drag {
  readonly from: HillIndex;
  readonly pointer: number;
  readonly x: number;
  readonly y: number;
  moved: boolean;
}

export class HillGrid {
  readonly element: SVGGElement;
  private readonly cells: SVGGElement[] = [];
  private readonly ghost = s('circle.drag-ghost', { r: 30 });
  private place: HillIndex;
  private uses: ReadonlyMap<HillIndex, Use> = new Map();
  private drag: Drag | null = null;
  // The focus has come by a click: left and right are not for walking then, but
  // step through the game.
  private clicked = false;

  constructor(
    private readonly geometry: Geometry,
    private readonly input: () => HillInput, // as of now
  ) {
    this.place = Math.floor(geometry.hills.length / 2);
    this.element = s('g', {
      role: 'grid',
      'aria-label': 'Board of 45 hills',
      'aria-describedby': 'board-help',
      keydown: (event: KeyboardEvent) => this.onKey(event),
      focusout: ({ relatedTarget }: FocusEvent) => {
        if (!this.element.contains(relatedTarget as Node | null)) {
          this.clicked = false;
        }
      },
      pointerdown: (event: PointerEvent) => this.onDown(event),
      pointermove: (event: PointerEvent) => this.onMove(event),
      pointerup: (event: PointerEvent) => this.onUp(event),
      pointercancel: () => this.endDrag(),
    });
    for (let rank = geometry.size - 1; rank >= 0; --rank) {
      const row = s('g', { role: 'row' });
      for (const hill of geometry.hills) {
        if (hill.rank !== rank) continue;
        row.append((this.cells[hill.index] = this.cell(hill.index)));
      }
      this.element.append(row);
    }
    this.element.append(this.ghost);
    this.setPlace(this.place);
  }

  private cell(hill: HillIndex): SVGGElement {
    const { x, y } = hillPoint(this.geometry.hills[hill]!);
    const attributes = {
      role: 'gridcell',
      'data-hill': this.geometry.hills[hill]!.name,
      tabindex: -1,
      focus: () => this.setPlace(hill),
      click: () => this.input().pointAt(hill),
    };
    return s('g.cell', attributes,
      s('rect', { x: x - 49, y: y - 49, width: 98, height: 98, rx: 22 }));
  }

  show(
    uses: ReadonlyMap<HillIndex, Use>,
    chosen: HillIndex | null,
    labels: readonly string[],
  ): void {
    this.uses = uses;
    this.cells.forEach((cell, hill) => {
      const use = uses.get(hill);
      setAttribute(cell, 'aria-label', labels[hill]!);
      setAttribute(cell, 'aria-selected', String(chosen === hill));
      setAttribute(cell, 'aria-disabled', use === undefined ? 'true' : null);
      setAttribute(cell, 'data-use', use);
    });
  }

  focus(): void {
    this.clicked = false;
    this.cells[this.place]!.focus();
  }

  private setPlace(hill: HillIndex): void {
    this.cells[this.place]!.setAttribute('tabindex', '-1');
    this.place = hill;
    this.cells[hill]!.setAttribute('tabindex', '0');
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (this.clicked && step !== undefined && step[0] !== 0) return;
    this.clicked = false;
    if (step !== undefined) {
      this.walk(step[0], step[1]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.input().pointAt(this.place);
    } else if (event.key === 'Escape') {
      this.input().forget();
    } else if (event.key === '.' || event.key === ',') {
      this.walkUses(event.key === '.' ? 1 : -1);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Moves the place by one step; along an edge, past the corner, to the next
  // hill.
  private walk(files: number, ranks: number): void {
    const here = this.geometry.hills[this.place]!;
    const at = (file: number, rank: number) =>
      this.geometry.hills.find((h) => h.file === file && h.rank === rank);
    const file = here.file + files;
    const rank = here.rank + ranks;
    const inwards = (value: number): number => (value === 0 ? 1 : value - 1);
    const next =
      at(file, rank) ??
      (files !== 0 ? at(file, inwards(rank)) : at(inwards(file), rank));
    if (next === undefined) return;
    this.setPlace(next.index);
    this.focus();
  }

  // Moves the place to the next hill that may be pointed at; once a king is
  // chosen, to the next one where it may go.
  private walkUses(step: 1 | -1): void {
    const count = this.cells.length;
    const ends = [...this.uses.values()].includes('end');
    for (let i = 1; i <= count; ++i) {
      const hill = (this.place + step * i + count * 2) % count;
      const use = this.uses.get(hill);
      if (use === undefined || (ends && use !== 'end')) continue;
      this.setPlace(hill);
      this.focus();
      return;
    }
  }

  private hillAt(event: PointerEvent): HillIndex | null {
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const name = target?.closest('.cell')?.getAttribute('data-hill');
    return this.geometry.hills.find((h) => h.name === name)?.index ?? null;
  }

  private onDown(event: PointerEvent): void {
    this.clicked = true;
    const from = this.hillAt(event);
    if (from === null || this.uses.get(from) !== 'start') return;
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    this.drag = { from, pointer, x, y, moved: false };
  }

  private onMove(event: PointerEvent): void {
    const { drag } = this;
    if (drag === null || drag.pointer !== event.pointerId) return;
    const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (!drag.moved && far < DRAG_DISTANCE_PX) return;
    if (!drag.moved) {
      drag.moved = true;
      this.element.setPointerCapture(event.pointerId);
      this.ghost.classList.add('shown');
    }
    const box = this.element.ownerSVGElement!.getBoundingClientRect();
    const scale = SIZE / box.width;
    this.ghost.setAttribute('cx', String((event.clientX - box.x) * scale));
    this.ghost.setAttribute('cy', String((event.clientY - box.y) * scale));
  }

  private onUp(event: PointerEvent): void {
    const { drag } = this;
    this.endDrag();
    if (drag === null || !drag.moved) return;
    const to = this.hillAt(event);
    if (to === drag.from) this.input().pointAt(to);
    else if (to !== null) this.input().drag(drag.from, to);
  }

  private endDrag(): void {
    this.drag = null;
    this.ghost.classList.remove('shown');
  }
}
