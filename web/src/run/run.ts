// The page that watches a run (`tara web --run RUN`): its curves, which grow
// while it learns, and its newest games, with what its searches thought.
// tara/cli/web.cc says what the server has, docs/reference/metrics.md what the
// run writes.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import '../ui/styles/fonts.css';
import '../ui/styles/theme.css';
import '../ui/styles/page.css';
import './run.css';
import { byId, h, replaceChildren } from '../ui/dom';
import { encode } from '../ui/links';
import { applyTheme, theme } from '../ui/preferences';

const POLL_MS = 3000;
const GAMES = 40;

// A line of metrics.jsonl.
interface RunEvent {
  event: string;
  generation: number;
  [field: string]: unknown;
}

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

// Gets a file of the run; throws with the server's words.
async function getFile(name: string): Promise<Response> {
  const response = await fetch(`./run/${name}`);
  if (response.ok) return response;
  throw new Error((await response.text()).trim());
}

// The lines of metrics.jsonl so far.
class Metrics {
  readonly events: RunEvent[] = [];
  private bytes = 0;

  // Reads what is new. Returns whether there was anything.
  async read(): Promise<boolean> {
    const response = await getFile(`metrics.jsonl?from=${this.bytes}`);
    const data = new Uint8Array(await response.arrayBuffer());
    const end = data.lastIndexOf('\n'.charCodeAt(0)) + 1; // of whole lines
    this.bytes += end;
    const lines = new TextDecoder().decode(data.subarray(0, end)).split('\n');
    for (const line of lines) {
      if (line !== '') this.events.push(JSON.parse(line) as RunEvent);
    }
    return end > 0;
  }

  of(event: string): RunEvent[] {
    return this.events.filter((each) => each.event === event);
  }
}

// A line of a chart: values by generation, and where it has them the bounds of
// their 95 % intervals.
interface Line {
  name: string;
  variant?: string; // that it is of
  points: Map<number, number>;
  low?: Map<number, number>;
  high?: Map<number, number>;
}

interface Chart {
  title: string;
  percent: boolean;
  even?: boolean; // 50 % is even, and marked
  lines: Line[];
}

function pointsOf(
  events: RunEvent[],
  field: string,
  factor = 1,
): Map<number, number> {
  const points = new Map<number, number>();
  for (const event of events) {
    const value = event[field];
    if (typeof value === 'number') {
      points.set(event.generation, factor * value);
    }
  }
  return points;
}

// Events by the text of a field, in the order of their first ones.
function grouped(events: RunEvent[], field: string): Map<string, RunEvent[]> {
  const groups = new Map<string, RunEvent[]>();
  for (const event of events) {
    const name = String(event[field]);
    groups.set(name, [...(groups.get(name) ?? []), event]);
  }
  return groups;
}

// Scores in percent, by variant.
function scoreLines(events: RunEvent[]): Line[] {
  return [...grouped(events, 'variant')].map(([name, of]) => ({
    name,
    variant: name,
    points: pointsOf(of, 'score', 100),
    low: pointsOf(of, 'score_low', 100),
    high: pointsOf(of, 'score_high', 100),
  }));
}

function chartsOf(metrics: Metrics): Chart[] {
  const learning = metrics.of('learning');
  const heldOut = grouped(metrics.of('held_out'), 'variant');
  const selfPlay = metrics.of('self_play');
  const lossLines = (field: string): Line[] => [
    { name: 'learned from', points: pointsOf(learning, field) },
    ...[...heldOut].map(([variant, events]) => ({
      name: `held out, ${variant}`,
      variant,
      points: pointsOf(events, field),
    })),
  ];
  const against = [...grouped(metrics.of('strength'), 'opponent')].map(
    ([opponent, events]) => ({
      title: `Score against ${opponent}, %`,
      percent: true,
      even: true,
      lines: scoreLines(events),
    }),
  );
  return [
    ...against,
    {
      title: 'Score against the best checkpoint (gate), %',
      percent: true,
      even: true,
      lines: scoreLines(metrics.of('gate')),
    },
    {
      title: 'Policy loss, nats',
      percent: false,
      lines: lossLines('policy_loss'),
    },
    {
      title: 'Value loss, nats',
      percent: false,
      lines: lossLines('value_loss'),
    },
    {
      title: 'Self-play, games per second',
      percent: false,
      lines: [
        { name: 'games/s', points: pointsOf(selfPlay, 'games_per_second') },
      ],
    },
    {
      title: 'Positions of self-play, %',
      percent: true,
      lines: [
        {
          name: 'different ones',
          points: pointsOf(selfPlay, 'distinct_share', 100),
        },
        {
          name: 'evaluations from the cache',
          points: pointsOf(selfPlay, 'cached_share', 100),
        },
      ],
    },
  ].filter(({ lines }) => lines.some(({ points }) => points.size > 1));
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

// The colour of a line: a variant's is the same in all charts. They differ by
// lightness, too, for people who see few colours.
function lineColour(line: Line, place: number, variants: string[]): string {
  const { colorScheme } = getComputedStyle(document.documentElement);
  const light = colorScheme === 'dark' ? 62 : 36;
  if (line.variant === undefined) {
    return `hsl(${(150 + 60 * place) % 360} ${place === 0 ? 8 : 45}% ${light}%)`;
  }
  const of = variants.indexOf(line.variant);
  const hue = Math.round((20 + (330 * of) / variants.length) % 360);
  return `hsl(${hue} 55% ${light + (of % 3) * 9}%)`;
}

function axes(x: string, y: string): uPlot.Axis[] {
  const axis = {
    stroke: colour('--faint'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '13px "Alegreya Sans", system-ui, sans-serif',
    labelFont: '13px "Alegreya Sans", system-ui, sans-serif',
    labelSize: 18,
  };
  return [
    {
      ...axis,
      size: 32,
      label: x,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    },
    { ...axis, label: y, size: 46 },
  ];
}

// Draws a dashed line at 50 %.
function markEven(chart: uPlot): void {
  const { ctx, bbox } = chart;
  const y = chart.valToPos(50, 'y', true);
  ctx.save();
  ctx.strokeStyle = colour('--faint');
  ctx.setLineDash([6, 5]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

// Where nothing is pointed at, a legend has the last values.
function showLast(chart: uPlot): void {
  const last = chart.data[0].length - 1;
  if (chart.legend.idx === null || chart.legend.idx === undefined) {
    chart.setLegend({ idx: last });
  }
}

// Draws a chart into its place; `variants` are the run's variants.
function plot(chart: Chart, place: HTMLElement, variants: string[]): uPlot {
  const generations = [
    ...new Set(chart.lines.flatMap(({ points }) => [...points.keys()])),
  ].sort((a, b) => a - b);
  const column = (points: Map<number, number>): (number | null)[] =>
    generations.map((generation) => points.get(generation) ?? null);
  const series: uPlot.Series[] = [{ label: 'generation' }];
  const data: (number | null)[][] = [generations];
  const bands: uPlot.Band[] = [];
  const show = (value: number | null): string =>
    value === null ? '–' : value.toFixed(chart.percent ? 1 : 3);
  chart.lines.forEach((line, i) => {
    const { name, points, low, high } = line;
    const stroke = lineColour(line, i, variants);
    series.push({
      label: name,
      stroke,
      width: 2,
      spanGaps: true,
      points: { show: generations.length < 30 },
      value: (_, value) => show(value),
    });
    data.push(column(points));
    // Bands of many lines would cover each other.
    if (low === undefined || high === undefined || chart.lines.length > 1) {
      return;
    }
    const bound = { stroke: 'transparent', points: { show: false } };
    series.push(
      { ...bound, label: '95 % from', value: (_, value) => show(value) },
      { ...bound, label: 'to', value: (_, value) => show(value) },
    );
    data.push(column(low), column(high));
    bands.push({
      series: [series.length - 1, series.length - 2],
      fill: stroke.replace(')', ' / 20%)'),
    });
  });
  const options: uPlot.Options = {
    width: Math.max(260, place.clientWidth),
    height: 210,
    series,
    bands,
    axes: axes('generation', chart.title.split(', ').at(-1)!),
    scales: {
      x: { time: false },
      ...(chart.percent ? { y: { range: [0, 100] } } : {}),
    },
    cursor: { sync: { key: 'generations' } },
    hooks: {
      setLegend: [showLast],
      drawAxes: chart.even === true ? [markEven] : [],
    },
  };
  const made = new uPlot(options, data as uPlot.AlignedData, place);
  showLast(made);
  return made;
}

class Curves {
  private plots: uPlot[] = [];

  draw(metrics: Metrics): void {
    for (const each of this.plots) each.destroy();
    const charts = chartsOf(metrics);
    const places = charts.map(() => h('div', { class: 'plot' }));
    replaceChildren(
      byId('curves'),
      strengthTable(metrics),
      charts.length === 0 &&
        h('p', { class: 'card wide' }, 'Curves appear after two generations.'),
      ...charts.map(({ title }, i) =>
        h('figure', { class: 'card' }, h('h2', {}, title), places[i]!),
      ),
    );
    const all = metrics.events.flatMap(({ variant }) => variant ?? []);
    const variants = [...new Set(all.map(String))];
    this.plots = charts.map((chart, i) => plot(chart, places[i]!, variants));
  }
}

// The last result of the newest checkpoint, by variant and opponent.
function strengthTable(metrics: Metrics): HTMLElement | null {
  const strength = metrics.of('strength');
  const newest = Math.max(...strength.map(({ generation }) => generation));
  const last = strength.filter(({ generation }) => generation === newest);
  if (last.length === 0) return null;
  const variants = grouped(last, 'variant');
  const opponents = [...grouped(last, 'opponent').keys()];
  const percent = (event: RunEvent, field: string): string =>
    (100 * Number(event[field])).toFixed(0);
  const cell = (events: RunEvent[], opponent: string): string => {
    const event = events.filter((of) => of['opponent'] === opponent).at(-1);
    return event === undefined
      ? '–'
      : `${percent(event, 'score')} [${percent(event, 'score_low')}, ` +
          `${percent(event, 'score_high')}]`;
  };
  return h(
    'figure',
    { class: 'card wide' },
    h('h2', {}, `Checkpoint ${newest}: score in %, with 95 % intervals`),
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'variant'),
          ...opponents.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        ...[...variants].map(([variant, events]) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, variant),
            ...opponents.map((name) => h('td', {}, cell(events, name))),
          ),
        ),
      ),
    ),
  );
}

// The newest games, and one of them to step through.
class Games {
  private readonly list = h('ol', { class: 'newest' });
  private readonly error = h('p', { class: 'error', role: 'status' });
  private readonly picture = h('img', { alt: '' });
  private readonly words = h('p', { role: 'status' });
  private readonly title = h('h2', {});
  private readonly link = h('a', { target: '_blank' }, 'Open on the board');
  private readonly slider = h('input', {
    type: 'range',
    min: 0,
    'aria-label': 'Action',
    input: () => this.goTo(Number(this.slider.value)),
  });
  private readonly course = h('div', { class: 'plot' });
  private readonly drawn = h('p', {});
  private readonly viewer: HTMLElement;
  private chart: uPlot | null = null;
  private game: WatchedGame | null = null;
  private ply = 0;
  private newest = -1; // the index of the first one in the list
  private asked = 0; // for a game; answers to an earlier question are dropped

  constructor() {
    const step = (name: string, text: string, to: () => number): HTMLElement =>
      h(
        'button',
        { type: 'button', 'aria-label': name, click: () => this.goTo(to()) },
        text,
      );
    const length = (): number => this.game?.actions.length ?? 0;
    this.viewer = h(
      'figure',
      { class: 'card viewer', tabindex: 0, keydown: (event: KeyboardEvent) => {
        if (event.target === this.slider) return;
        if (event.key === 'ArrowLeft') this.goTo(this.ply - 1);
        if (event.key === 'ArrowRight') this.goTo(this.ply + 1);
      } },
      this.title,
      this.picture,
      this.words,
      h(
        'div',
        { class: 'steps' },
        step('First position', '«', () => 0),
        step('Back', '‹', () => this.ply - 1),
        this.slider,
        step('On', '›', () => this.ply + 1),
        step('Last position', '»', length),
      ),
      this.course,
      this.drawn,
      h('p', {}, this.link, ', for hints, the policy and other play.'),
    );
    this.viewer.hidden = true;
    replaceChildren(
      byId('games'),
      h(
        'div',
        { class: 'card' },
        h('h2', {}, 'Newest games'),
        this.list,
        this.error,
      ),
      this.viewer,
    );
  }

  async refresh(): Promise<void> {
    const response = await getFile(`games.json?limit=${GAMES}`);
    const rows = (await response.json()) as GameRow[];
    const first = rows[0];
    if (first === undefined) this.list.textContent = 'None yet.';
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
    const points = row.points.join('–');
    return h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          'data-game': row.index,
          'aria-pressed': row.index === this.game?.index ? 'true' : 'false',
          click: () => void this.show(row.index),
        },
        `${row.index}: ${row.variant}, generation ${row.generation}, ` +
          `${points} after ${row.length} actions, ${row.ended_by}`,
      ),
    );
  }

  private async show(index: number): Promise<void> {
    const asked = ++this.asked;
    let game: WatchedGame;
    try {
      const response = await getFile(`game.json?index=${index}`);
      game = (await response.json()) as WatchedGame;
    } catch (error) {
      if (asked !== this.asked) return;
      this.error.textContent = `No game ${index}: ${messageOf(error)}`;
      return;
    }
    if (asked !== this.asked) return;
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
    this.chart = new uPlot(
      {
        width: Math.max(260, this.course.clientWidth),
        height: 150,
        scales: { x: { time: false }, y: { range: [0, 100] } },
        axes: axes('after action', '%'),
        hooks: { drawAxes: [markEven] },
        series: [
          { label: 'after action' },
          {
            label: 'Red’s chances, %',
            stroke: colour('--red'),
            width: 2,
            spanGaps: true,
            value: (_, value) => value === null ? '–' : value.toFixed(0),
          },
        ],
      },
      [plies, red],
      this.course,
    );
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
    this.picture.src = `./run/position.svg?index=${game.index}&ply=${ply}`;
    const words = wordsOf(game, ply);
    this.words.textContent = words;
    this.picture.alt = words;
    this.chart?.setLegend({ idx: Math.min(ply, game.actions.length - 1) });
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

// "3 min", "5 h" or "2 days": coarse, so that it changes seldom.
function lasting(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

function stateOf(metrics: Metrics, { config, quiet }: About): string {
  const wanted = /^generations: (\d+)/m.exec(config)?.[1];
  const selfPlay = metrics.of('self_play');
  const learned = metrics.of('learning').at(-1)?.generation ?? 0;
  const games = selfPlay.reduce((sum, { games }) => sum + Number(games), 0);
  const speed = Number(selfPlay.at(-1)?.['games_per_second'] ?? 0);
  // A later start with more generations learns on.
  const finished = metrics
    .of('strength')
    .some((each) => each['final'] === true && each.generation === learned);
  return (
    `Generation ${learned}${wanted === undefined ? '' : ` of ${wanted}`}, ` +
    `${games.toLocaleString('en')} games` +
    (speed > 0 ? `, latest generation: ${speed.toFixed(1)} games/s` : '') +
    (quiet === null
      ? ''
      : finished
        ? `; finished ${lasting(quiet)} ago`
        : `; not finished, last entry ${lasting(quiet)} ago`)
  );
}

// Notes and the config, which stays folded out as it is.
class Rest {
  private readonly notes = h('figure', { class: 'card' });
  private readonly config = h('pre', { tabindex: 0 }); // keys scroll it

  constructor() {
    replaceChildren(
      byId('rest'),
      this.notes,
      h(
        'details',
        { class: 'card' },
        h('summary', {}, 'Config'),
        this.config,
      ),
    );
  }

  draw(metrics: Metrics, config: string): void {
    const notes = metrics.of('note').slice(-20).reverse();
    this.notes.hidden = notes.length === 0;
    replaceChildren(
      this.notes,
      h('h2', {}, 'Notes'),
      h(
        'ul',
        {},
        ...notes.map((note) =>
          h('li', {}, `${note.generation}: ${String(note['text'])}`),
        ),
      ),
    );
    this.config.textContent = config;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface About {
  name: string; // of the run
  config: string; // its text, which a later start may change
  quiet: number | null; // seconds since it wrote its metrics; null: none yet
}

async function main(): Promise<void> {
  applyTheme(theme());
  let about: About = { name: '', config: '', quiet: null };
  const metrics = new Metrics();
  const curves = new Curves();
  const games = new Games();
  const rest = new Rest();
  const draw = (): void => {
    curves.draw(metrics);
    rest.draw(metrics, about.config);
  };
  const drawAll = (): void => {
    draw();
    games.draw();
  };
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) drawAll();
    width = innerWidth;
  });
  const night = matchMedia('(prefers-color-scheme: dark)');
  night.addEventListener('change', drawAll);
  for (;;) {
    const state = byId('run-state');
    try {
      const isFirst = metrics.events.length === 0;
      const isNew = await metrics.read();
      about = (await (await getFile('about.json')).json()) as About;
      if (isNew || isFirst) {
        document.title = `Tara: ${about.name}`;
        byId('run-name').textContent = about.name;
        draw();
      }
      await games.refresh();
      state.textContent = stateOf(metrics, about);
      state.classList.remove('error');
      document.body.classList.add('ready');
    } catch (error) {
      state.textContent = `No answer from the server: ${messageOf(error)}`;
      state.classList.add('error');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

main().catch((error: unknown) => {
  byId('run-state').textContent = messageOf(error);
});
