// The board as a drawing that can be pointed at, dragged on, and walked over
// with the keyboard. It shows positions and marks, without rules.

import { h, patch, replaceChildren, s } from '../dom';
import { HillGrid, type HillInput } from './grid';
import { definitions, land } from './land';
import { hillPoint, SIZE, type Point } from './layout';
import {
  areaShade, arrowHead, countedGround, countedMarks, heatMarks, middle,
  ownerMarks, pointerMarks, type Marks,
} from './marks';
import { fort, kingOn, walls } from './pieces';
import type { Placed } from './drawing';
import type { Action, Geometry } from '../../engine/api';

export interface BoardInput extends HillInput {
  play(action: Action): void; // a link that was pointed at in its middle
}

const MOVE_MS = 260;

export class Board {
  readonly element: HTMLElement;
  private readonly points: readonly Point[];
  private readonly grid: HillGrid;
  private readonly told = h('p.told', { role: 'status' });
  // From below to above; the hills' cells are below the links.
  private readonly layers = {
    area: s('g', { 'clip-path': 'url(#meadow-clip)' }),
    counted: s('g'),
    forts: s('g'),
    knots: s('g'),
    owners: s('g'),
    kings: s('g'),
    heat: s('g'),
    marks: s('g.marks'),
    links: s('g'),
  };

  constructor(
    geometry: Geometry,
    private readonly input: () => BoardInput, // as of now
  ) {
    this.points = geometry.hills.map(hillPoint);
    this.grid = new HillGrid(geometry, input);
    const drawing = s('svg.pieces', { viewBox: `0 0 ${SIZE} ${SIZE}` },
      definitions(),
      s('defs', arrowHead()));
    this.element = h('div#board.board', land(geometry), drawing, this.told);
    // The next click or key anywhere hides the sentence.
    for (const type of ['pointerdown', 'keydown']) {
      document.addEventListener(type, () => this.untell(), true);
    }
    for (const layer of Object.values(this.layers)) {
      layer.setAttribute('aria-hidden', 'true');
      drawing.append(layer);
    }
    this.layers.links.before(this.grid.element);
  }

  // Draws the pieces. `moved` is the action that has just led here, which is
  // shown in motion.
  showPosition(position: Placed, moved: Action | null): void {
    const { points, layers } = this;
    const forts = position.hills.map(({ owner }, hill) => {
      if (owner === null) return null;
      const piece = fort(points[hill]!, owner);
      if (moved?.to === hill) piece.classList.add('fresh');
      return piece;
    });
    const kings = position.hills.map((state, hill) => {
      const piece = kingOn(points[hill]!, state);
      if (piece !== null && moved?.to === hill && moved.from !== null) {
        slide(piece.firstElementChild!, points[moved.from]!, points[hill]!);
      }
      return piece;
    });
    replaceChildren(layers.forts, forts);
    replaceChildren(layers.knots, ([0, 1] as const).map((side) =>
      walls(points, side, position)));
    replaceChildren(layers.kings, kings);
    this.untell();
  }

  // Shows a sentence at a hill, until the next action: above it, or below
  // without room above.
  tell(hill: number, sentence: string): void {
    const { x, y } = this.points[hill]!;
    const { style } = this.told;
    const below = y < SIZE * 0.4;
    const share = (x / SIZE) * 100;
    // Shifted by the same share of itself, it never leaves the board.
    style.left = `${share}%`;
    style.top = `${((y + (below ? 46 : -46)) / SIZE) * 100}%`;
    style.transform = `translate(${-share}%, ${below ? 0 : -100}%)`;
    this.told.textContent = sentence;
    this.told.classList.add('shown');
  }

  private untell(): void {
    this.told.classList.remove('shown');
    this.told.textContent = '';
  }

  // Says in attributes what is shown, such as the ply.
  showFacts(facts: Readonly<Record<string, number | boolean>>): void {
    for (const [name, value] of Object.entries(facts)) {
      this.element.dataset[name] = String(value);
    }
  }

  // Draws what lies on top of the pieces, with its text in `labels`, by hill.
  showMarks(marks: Marks, labels: readonly string[]): void {
    const { points, layers } = this;
    replaceChildren(layers.area, areaShade(marks.area));
    replaceChildren(layers.owners, ownerMarks(points, marks.owners));
    replaceChildren(layers.heat, heatMarks(points, marks.heat));
    replaceChildren(
      layers.marks,
      pointerMarks(points, marks),
      countedMarks(points, marks),
    );
    replaceChildren(layers.counted, countedGround(points, marks.counted));
    patch(layers.links, this.linkMarks(marks));
    this.grid.show(marks.uses, marks.chosen, labels);
  }

  private linkMarks(marks: Marks): SVGElement[] {
    return marks.links.map((action) => {
      const at = middle(this.points[action.from!]!, this.points[action.to!]!);
      const attributes = {
        class: marks.mover,
        'data-link': action.notation,
        transform: `translate(${at.x} ${at.y})`,
        click: () => this.input().play(action),
      };
      return s('g.link-mark', attributes,
        s('circle.link-reach', { r: 21 }),
        s('rect', { x: -7, y: -7, width: 14, height: 14, rx: 3 }));
    });
  }

  focus(): void {
    this.grid.focus();
  }
}

function slide(piece: Element, from: Point, to: Point): void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const transform = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
  piece.animate([{ transform }, { transform: 'none' }], {
    duration: MOVE_MS,
    easing: 'cubic-bezier(.3,.1,.2,1)',
  });
}
