// The newest games of a run, and one of them to step through with what its
// searches thought.

import type uPlot from 'uplot';
import { byId, h, replaceChildren } from '../ui/dom';
import { encode } from '../ui/links';
import { button, select, setOptions } from '../ui/parts';
import { messageOf } from '../error';
import { Latest } from '../latest';
import { colour, draw } from './chart';
import { addressOf, getFile, type Run } from './metrics';

const GAMES = 40;

interface GameRow {
  index: number;
  variant: string;
  generation: number;
  length: number;
  points: [number, number];
  ended_by: string;
}

interface WatchedGame {
  index: number;
  variant: string;
  generation: number;
  model: string;
  text: string;
  end: string;
  actions: {
    seat: string;
    action: string;
    drawn: boolean;
    proved: boolean;
    red: number | null; // Red's chances
  }[];
}

// The newest games, and one of them to step through.
export class Games {
  private readonly list = h('ol.newest');
  private readonly error = h('p.error', { role: 'status' });
  private readonly picture = h('img', { alt: '' });
  private readonly words = h('p', { role: 'status' });
  private readonly title = h('h2');
  private readonly link = h('a', { target: '_blank' }, 'Open on the board');
  private readonly slider = h('input', {
    type: 'range',
    min: 0,
    'aria-label': 'Action',
    input: () => this.goTo(Number(this.slider.value)),
  });
  private readonly course = h('div.plot');
  private readonly drawn = h('p');
  private readonly viewer: HTMLElement;
  private chart: uPlot | null = null;
  private game: WatchedGame | null = null;
  private ply = 0;
  private newest = -1; // the index of the first one in the list
  private readonly latest = new Latest(); // of the games that are asked for

  // The run whose games are listed, where there are several.
  private readonly run = select('Games of', () => {
    this.newest = -1;
    this.game = null;
    void this.refresh();
  });

  constructor(private readonly runs: readonly Run[]) {
    setOptions(this.run, runs.map(({ about }, i) => [i, about.name]));
    this.run.hidden = runs.length === 1;
    const step = (label: string, text: string, to: () => number) =>
      button('', text, () => this.goTo(to()), { 'aria-label': label });
    const keydown = ({ target, key }: KeyboardEvent): void => {
      if (target === this.slider) return;
      if (key === 'ArrowLeft') this.goTo(this.ply - 1);
      if (key === 'ArrowRight') this.goTo(this.ply + 1);
    };
    this.viewer = h('figure.card.viewer', { tabindex: 0, keydown },
      this.title,
      this.picture,
      this.words,
      h('div.steps',
        step('First position', '«', () => 0),
        step('Back', '‹', () => this.ply - 1),
        this.slider,
        step('On', '›', () => this.ply + 1),
        step('Last position', '»', () => this.game?.actions.length ?? 0)),
      this.course,
      this.drawn,
      h('p', this.link, ', for hints, the policy and other play.'));
    this.viewer.hidden = true;
    replaceChildren(
      byId('games'),
      h('div.card', h('header', h('h2', 'Newest games'), this.run),
        this.list, this.error),
      this.viewer,
    );
  }

  private get index(): number {
    return this.runs[Number(this.run.value)]!.index;
  }

  // Of the chart, which has no end of the game.
  private get shownPly(): number {
    return Math.min(this.ply, this.game!.actions.length - 1);
  }

  async refresh(): Promise<void> {
    const { index } = this;
    const response = await getFile(index, `games.json?limit=${GAMES}`);
    const rows = (await response.json()) as GameRow[];
    if (index !== this.index) return; // another run was chosen meanwhile
    const first = rows[0];
    if (first === undefined) replaceChildren(this.list, h('li', 'None yet.'));
    if (first === undefined || first.index === this.newest) return;
    this.newest = first.index;
    this.replaceList(rows);
    if (this.game === null) await this.show(first.index);
  }

  // The game that has the focus keeps it as long as it is in the list.
  private replaceList(rows: GameRow[]): void {
    const { activeElement } = document;
    const focused = this.list.contains(activeElement)
      ? activeElement!.getAttribute('data-game')
      : null;
    replaceChildren(this.list, ...rows.map((row) => this.entry(row)));
    if (focused === null) return;
    const buttons = [...this.list.querySelectorAll('button')];
    const same = buttons.find((each) => each.dataset['game'] === focused);
    (same ?? buttons.at(-1))?.focus();
  }

  private entry(row: GameRow): HTMLElement {
    const { index, variant, generation, points, length, ended_by } = row;
    const label =
      `${index}: ${variant}, generation ${generation}, ` +
      `${points.join('–')} after ${length} actions, ${ended_by}`;
    return h('li', button('', label, () => void this.show(index), {
      'data-game': index,
      'aria-pressed': String(index === this.game?.index),
    }));
  }

  private async show(index: number): Promise<void> {
    const asked = getFile(this.index, `game.json?index=${index}`)
      .then((response) => response.json());
    let game: WatchedGame;
    try {
      game = (await this.latest.answer(asked)) as WatchedGame;
    } catch (error) {
      this.error.textContent = `No game ${index}: ${messageOf(error)}`;
      return;
    }
    this.error.textContent = '';
    this.game = game;
    // The last position that was searched; the first ones of a game are drawn.
    const searched = game.actions.map(({ red }) => red !== null);
    this.ply = Math.max(0, searched.lastIndexOf(true));
    const played = game.actions.findIndex(({ drawn }) => !drawn);
    this.drawn.hidden = played <= 0;
    this.drawn.textContent =
      `The first ${played === 1 ? 'action was' : `${played} actions were`} ` +
      'drawn at random, without a search.';
    this.viewer.hidden = false;
    this.title.textContent =
      `Game ${index} by ${game.model}: ${game.end}`;
    this.link.href = `./#${encode(game.text)}`;
    this.slider.max = String(game.actions.length);
    for (const button of this.list.querySelectorAll('button')) {
      const shown = button.dataset['game'] === String(index);
      button.setAttribute('aria-pressed', String(shown));
    }
    this.draw();
  }

  // Redraws the parts that depend on the size of the screen and its colours.
  draw(): void {
    if (this.game === null) return;
    this.drawCourse(this.game);
    this.goTo(this.ply);
  }

  // Red's chances, as the search before each action saw them.
  private drawCourse(game: WatchedGame): void {
    this.chart?.destroy();
    const plies = game.actions.map((_, ply) => ply);
    const red = game.actions.map(({ red }) => red === null ? null : 100 * red);
    const series = [
      { label: 'after action' },
      {
        label: 'Red’s chances, %',
        stroke: colour('--red'),
        width: 2,
        spanGaps: true,
        value: (_: uPlot, value: number | null) => value?.toFixed(0) ?? '–',
      },
    ];
    this.chart = draw(this.course, ['after action', '%'], true,
      () => this.shownPly, { height: 150, series }, [plies, red]);
    this.chart.over.addEventListener('click', () => {
      const ply = this.chart?.cursor.idx;
      if (typeof ply === 'number') this.goTo(ply);
    });
  }

  private goTo(ply: number): void {
    const { game } = this;
    if (game === null || ply < 0 || ply > game.actions.length) return;
    this.ply = ply;
    this.slider.value = String(ply);
    this.picture.src = addressOf(
      this.index, `position.svg?index=${game.index}&ply=${ply}`);
    const words = wordsOf(game, ply);
    this.words.textContent = words;
    this.picture.alt = words;
    this.chart?.setLegend({ idx: this.shownPly });
  }
}

// What happened before a position of a game, and what is thought of it.
function wordsOf(game: WatchedGame, ply: number): string {
  const played = game.actions[ply - 1];
  const next = game.actions[ply];
  const parts = [
    played === undefined
      ? 'The start.'
      : `Action ${ply} of ${game.actions.length}: ${played.seat} played ` +
        `${played.action}${played.drawn ? ', drawn at random' : ''}.`,
  ];
  if (next === undefined) parts.push(`${game.end}.`);
  else if (next.red !== null) {
    parts.push(
      `The search of ${next.seat} gives Red ${(100 * next.red).toFixed(0)} %` +
        `${next.proved ? ', which is proved' : ''}; discs show the actions tried.`,
    );
  }
  return parts.join(' ');
}
