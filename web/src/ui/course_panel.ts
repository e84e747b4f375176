// The course of the game: chances of both sides and the expected margin, ply
// by ply, and in words for the position on the board.

import { h, replaceChildren, s, type Child } from './dom';
import { card } from './parts';
import { chances } from './words';
import type { CoursePoint } from './course';
import type { App } from './app';

const WIDTH = 320;
const CHANCE_HEIGHT = 74;
const MARGIN_HEIGHT = 42;
const GAP = 8;
const HEIGHT = CHANCE_HEIGHT + GAP + MARGIN_HEIGHT;
const MIN_PLIES = 12; // the plot is at least so wide

type Points = readonly (CoursePoint | undefined)[];

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
  private readonly words = h('p.chances');
  private readonly source = h('span.faint');
  private readonly plot = s('svg.course', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    click: (event: MouseEvent) => this.onClick(event),
  });
  private scale = MIN_PLIES; // plies that the plot is wide
  private last = 0;

  constructor(private readonly app: App) {
    this.element = card(
      'Course of the game',
      [h('h2', 'Course of the game'), this.source],
      this.plot,
      this.words,
      h('p.legend',
        'After each action: the chance to win, Red’s from below, Blue’s ' +
          'from above, draws between them; under it the expected lead in ' +
          'points. Percentages count a draw as half a win.'),
    );
  }

  render(): void {
    const { session } = this.app;
    const { game } = session;
    this.last = game.actions.length;
    this.scale = Math.max(MIN_PLIES, this.last);
    const points = Array.from({ length: this.last + 1 }, (_, ply) =>
      session.course.at(ply));
    // Chances before the first action would only puzzle new players.
    const isFresh = this.last === 0 && game.start === null;
    if (isFresh && points[0]?.isSearched === false) points.length = 0;
    const here = points[game.ply];
    const waits = isFresh ? 'Shown once the game has begun.' : '…';
    this.words.textContent = here === undefined ? waits : inWords(here);
    this.source.textContent = here === undefined ? '' : sourceOf(here);
    const label = here === undefined ? 'No evaluation yet' : inWords(here);
    this.plot.setAttribute('aria-label', label);
    const x = this.x(game.ply);
    replaceChildren(
      this.plot,
      this.chanceShapes(points),
      this.marginBars(points),
      s('line.plot-cursor', { x1: x, x2: x, y1: 0, y2: HEIGHT }),
      // The faults of the review, where their actions have led.
      [...session.faults()].map(([ply, fault]) =>
        s('circle.fault', {
          'data-fault': fault,
          cx: this.x(ply),
          cy: CHANCE_HEIGHT * (1 - (points[ply]?.red ?? 0.5)),
          r: 4,
        })),
    );
  }

  private x(ply: number): number {
    return ((ply + 0.5) / (this.scale + 1)) * WIDTH;
  }

  // Red's share from below, Blue's from above, draws between them.
  private chanceShapes(points: Points): Child[] {
    const width = WIDTH / (this.scale + 1) + 0.4;
    const height = CHANCE_HEIGHT;
    const half = { x2: WIDTH, y1: height / 2, y2: height / 2 };
    return [
      s('rect.plot-ground', { width: WIDTH, height, rx: 4 }),
      points.map((point, ply) => {
        if (point === undefined) return null;
        const x = this.x(ply) - width / 2;
        const red = point.red * height;
        const blue = (1 - point.red - point.draw) * height;
        const bar = (side: string, y: number, size: number): Child => {
          const height = Math.max(0, size);
          return s('rect', { class: `plot-${side}`, x, y, width, height });
        };
        return [
          bar('draw', 0, height),
          bar('blue', 0, blue),
          bar('red', height - red, red),
        ];
      }),
      s('line.plot-half', half),
    ];
  }

  // The margin, up for Red and down for Blue.
  private marginBars(points: Points): Child[] {
    const margins = points.map((point) => point?.redMargin ?? 0);
    const largest = Math.max(4, ...margins.map(Math.abs));
    const zero = CHANCE_HEIGHT + GAP + MARGIN_HEIGHT / 2;
    const width = Math.min(14, (WIDTH / (this.scale + 1)) * 0.7);
    return [
      s('line.plot-zero', { x2: WIDTH, y1: zero, y2: zero }),
      margins.map((margin, ply) => {
        if (points[ply] === undefined) return null;
        const size = (margin / largest) * (MARGIN_HEIGHT / 2);
        return s('rect', {
          class: size >= 0 ? 'plot-red' : 'plot-blue',
          x: this.x(ply) - width / 2,
          y: size >= 0 ? zero - size : zero,
          width,
          height: Math.abs(size),
          rx: Math.min(2, width / 3),
        });
      }),
    ];
  }

  private onClick(event: MouseEvent): void {
    const box = this.plot.getBoundingClientRect();
    const share = (event.clientX - box.x) / box.width;
    const ply = Math.floor(share * (this.scale + 1));
    void this.app.goTo(Math.min(this.last, Math.max(0, ply)));
  }
}
