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
const HALF = CHANCE_HEIGHT / 2;
const ZERO = HEIGHT - MARGIN_HEIGHT / 2; // of the margins
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
      s('rect.plot-ground', { width: WIDTH, height: CHANCE_HEIGHT, rx: 4 }),
      s('line.plot-zero', { x2: WIDTH, y1: ZERO, y2: ZERO }),
      this.bars(points),
      s('line.plot-half', { x2: WIDTH, y1: HALF, y2: HALF }),
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

  // By ply: Red's chance from below, Blue's from above, draws between them;
  // under them the margin, up for Red and down for Blue.
  private bars(points: Points): Child[] {
    const step = WIDTH / (this.scale + 1);
    const [wide, slim] = [step + 0.4, Math.min(14, step * 0.7)];
    const largest =
      Math.max(4, ...points.map((point) => Math.abs(point?.redMargin ?? 0)));
    return points.map((point, ply) => {
      if (point === undefined) return null;
      const { red, draw, redMargin } = point;
      const bar = (
        name: string, width: number, y: number, size: number, rx = 0,
      ) => {
        const [x, height] = [this.x(ply) - width / 2, Math.max(0, size)];
        return s('rect', { class: `plot-${name}`, x, y, width, height, rx });
      };
      const lead = (redMargin / largest) * (MARGIN_HEIGHT / 2);
      return [
        bar('draw', wide, 0, CHANCE_HEIGHT),
        bar('blue', wide, 0, CHANCE_HEIGHT * (1 - red - draw)),
        bar('red', wide, CHANCE_HEIGHT * (1 - red), CHANCE_HEIGHT * red),
        bar(lead >= 0 ? 'red' : 'blue', slim, ZERO - Math.max(0, lead),
          Math.abs(lead), Math.min(2, slim / 3)),
      ];
    });
  }

  private onClick(event: MouseEvent): void {
    const box = this.plot.getBoundingClientRect();
    const share = (event.clientX - box.x) / box.width;
    const ply = Math.floor(share * (this.scale + 1));
    void this.app.goTo(Math.min(this.last, Math.max(0, ply)));
  }
}
