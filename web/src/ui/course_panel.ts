// The course of the game: chances of both sides and the expected margin, ply
// by ply, and in words for the position on the board.

import { h, replaceChildren, s } from './dom';
import { chances } from './words';
import type { CoursePoint } from './course';
import type { Fault } from './review';
import type { Session } from './session';

const WIDTH = 320;
const CHANCE_HEIGHT = 74;
const MARGIN_HEIGHT = 42;
const GAP = 8;
const HEIGHT = CHANCE_HEIGHT + GAP + MARGIN_HEIGHT;
const MIN_PLIES = 12; // the plot is at least so wide

const AT_FIRST_SIGHT: Readonly<Record<CoursePoint['by'], string>> = {
  network: 'the network’s first guess',
  playouts: 'by random games',
  result: 'the result',
};

function sourceOf({ by, isSearched }: CoursePoint): string {
  return isSearched ? 'after a search' : AT_FIRST_SIGHT[by];
}

function inWords({ red, draw, redMargin }: CoursePoint): string {
  const blue = 1 - red - draw;
  return chances(red - blue, redMargin);
}

export class CoursePanel {
  readonly element: HTMLElement;
  private readonly words = h('p', { class: 'chances' });
  private readonly source = h('span', { class: 'faint' });
  private readonly plot = s('svg', {
    class: 'course',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    click: (event: MouseEvent) => this.onClick(event),
  });
  private scale = MIN_PLIES; // plies that the plot is wide
  private last = 0;

  constructor(private readonly goTo: (ply: number) => void) {
    this.element = h(
      'section',
      { class: 'card', 'aria-label': 'Course of the game' },
      h('header', {}, h('h2', {}, 'Course of the game'), this.source),
      this.plot,
      this.words,
      h(
        'p',
        { class: 'legend' },
        'After each action: the chance to win, Red’s from below, Blue’s ' +
          'from above, draws between them; under it the expected lead in ' +
          'points. Percentages count a draw as half a win.',
      ),
    );
  }

  render(session: Session): void {
    const { game } = session;
    this.last = game.actions.length;
    this.scale = Math.max(MIN_PLIES, this.last);
    const points: (CoursePoint | undefined)[] = [];
    for (let ply = 0; ply <= this.last; ++ply) {
      points.push(session.course.at(ply));
    }
    // Chances before the first action would only puzzle new players.
    const isFresh = this.last === 0 && game.start === null;
    if (isFresh && points[0]?.isSearched === false) points.length = 0;
    const here = points[game.ply];
    this.words.textContent =
      here !== undefined
        ? inWords(here)
        : isFresh
          ? 'Shown once the game has begun.'
          : '…';
    this.source.textContent = here === undefined ? '' : sourceOf(here);
    this.plot.setAttribute(
      'aria-label',
      here === undefined ? 'No evaluation yet' : inWords(here),
    );
    replaceChildren(
      this.plot,
      ...this.chanceShapes(points),
      ...this.marginBars(points),
      this.cursor(game.ply),
      ...this.faultDots(points, session.faults()),
    );
  }

  private x(ply: number): number {
    return ((ply + 0.5) / (this.scale + 1)) * WIDTH;
  }

  // Red's share from below, Blue's from above, draws between them.
  private chanceShapes(
    points: readonly (CoursePoint | undefined)[],
  ): Element[] {
    const shapes: Element[] = [
      s('rect', {
        class: 'plot-ground',
        width: WIDTH,
        height: CHANCE_HEIGHT,
        rx: 4,
      }),
    ];
    const half = WIDTH / (this.scale + 1) / 2 + 0.2;
    points.forEach((point, ply) => {
      if (point === undefined) return;
      const x = this.x(ply) - half;
      const red = point.red * CHANCE_HEIGHT;
      const blue = (1 - point.red - point.draw) * CHANCE_HEIGHT;
      const bar = (name: string, y: number, height: number): Element =>
        s('rect', { class: name, x, y, width: 2 * half, height });
      shapes.push(
        bar('plot-draw', 0, CHANCE_HEIGHT),
        bar('plot-blue', 0, Math.max(0, blue)),
        bar('plot-red', CHANCE_HEIGHT - red, Math.max(0, red)),
      );
    });
    shapes.push(
      s('line', {
        class: 'plot-half',
        x2: WIDTH,
        y1: CHANCE_HEIGHT / 2,
        y2: CHANCE_HEIGHT / 2,
      }),
    );
    return shapes;
  }

  // The margin, up for Red and down for Blue.
  private marginBars(points: readonly (CoursePoint | undefined)[]): Element[] {
    const largest = Math.max(
      4,
      ...points.map((point) => Math.abs(point?.redMargin ?? 0)),
    );
    const zero = CHANCE_HEIGHT + GAP + MARGIN_HEIGHT / 2;
    const width = Math.min(14, (WIDTH / (this.scale + 1)) * 0.7);
    const bars: Element[] = [
      s('line', { class: 'plot-zero', x2: WIDTH, y1: zero, y2: zero }),
    ];
    points.forEach((point, ply) => {
      if (point === undefined) return;
      const size = (point.redMargin / largest) * (MARGIN_HEIGHT / 2);
      bars.push(
        s('rect', {
          class: size >= 0 ? 'plot-red' : 'plot-blue',
          x: this.x(ply) - width / 2,
          y: size >= 0 ? zero - size : zero,
          width,
          height: Math.abs(size),
          rx: Math.min(2, width / 3),
        }),
      );
    });
    return bars;
  }

  // The faults of the review, where their actions have led.
  private faultDots(
    points: readonly (CoursePoint | undefined)[],
    faults: ReadonlyMap<number, Fault>,
  ): Element[] {
    return [...faults].map(([ply, fault]) =>
      s('circle', {
        class: 'fault',
        'data-fault': fault,
        cx: this.x(ply),
        cy: CHANCE_HEIGHT * (1 - (points[ply]?.red ?? 0.5)),
        r: 4,
      }),
    );
  }

  private cursor(ply: number): Element {
    const x = this.x(ply);
    return s('line', { class: 'plot-cursor', x1: x, x2: x, y1: 0, y2: HEIGHT });
  }

  private onClick(event: MouseEvent): void {
    const box = this.plot.getBoundingClientRect();
    const share = (event.clientX - box.x) / box.width;
    const ply = Math.floor(share * (this.scale + 1));
    this.goTo(Math.min(this.last, Math.max(0, ply)));
  }
}
