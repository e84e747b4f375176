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
import { button, download, select, table } from '../ui/parts';
import { applyTheme, isDark, theme } from '../ui/preferences';
import { messageOf } from '../error';

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
  points: Points;
  low?: Points;
  high?: Points;
}

interface Chart {
  title: string;
  percent: boolean;
  even?: boolean; // 50 % is even, and marked
  lines: Line[];
}

type Points = Map<number, number>;

function pointsOf(events: RunEvent[], field: string, factor = 1): Points {
  const points: Points = new Map();
  for (const { generation, [field]: value } of events) {
    if (typeof value === 'number') points.set(generation, factor * value);
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

// Lines of scores by variant, each made by `scale`, of which the bounds are too.
function scoreLines(
  events: RunEvent[],
  scale = (score: number): number => 100 * score,
): Line[] {
  const scaled = (of: RunEvent[], field: string): Points =>
    new Map([...pointsOf(of, field)]
      .map(([generation, score]) => [generation, scale(score)] as const)
      .filter(([, value]) => Number.isFinite(value)));
  return [...grouped(events, 'variant')].map(([name, of]) => ({
    name,
    variant: name,
    points: scaled(of, 'score'),
    low: scaled(of, 'score_low'),
    high: scaled(of, 'score_high'),
  }));
}

// The difference in Elo that a score stands for; infinite for 0 and 1.
function eloOf(score: number): number {
  return -400 * Math.log10(1 / score - 1);
}

// What curves are drawn over. The sums are of the games before a checkpoint.
const AXES = ['generation', 'games', 'samples', 'hours of self-play'] as const;
type Axis = (typeof AXES)[number];

// Returns the place of each generation on an axis.
function placesOf(metrics: Metrics, axis: Axis): Points | null {
  if (axis === 'generation') return null;
  const places: Points = new Map([[0, 0]]);
  if (axis === 'samples') {
    return new Map([...places, ...pointsOf(metrics.of('learning'), 'samples')]);
  }
  let sum = 0;
  for (const { generation, games, seconds } of metrics.of('self_play')) {
    sum += axis === 'games' ? Number(games) : Number(seconds) / 3600;
    places.set(generation + 1, sum);
  }
  return places;
}

// Means over the last `width` values.
function smoothed(points: Points, width: number): Points {
  const all = [...points];
  return new Map(all.map(([generation], i) => {
    const last = all.slice(Math.max(0, i + 1 - width), i + 1);
    return [generation, last.reduce((sum, [, y]) => sum + y, 0) / last.length];
  }));
}

function csvOf(charts: Chart[]): string {
  const rows = charts.flatMap(({ title, lines }) =>
    lines.flatMap(({ name, points, low, high }) =>
      [...points].map(([at, value]) =>
        [title, name, at, value, low?.get(at), high?.get(at)])));
  const cell = (value: string | number | undefined): string =>
    typeof value === 'string'
      ? `"${value.replaceAll('"', '""')}"`
      : String(value ?? '');
  const heads = 'chart,line,generation,value,low,high';
  const lines = rows.map((row) => row.map(cell).join(','));
  return [heads, ...lines, ''].join('\n');
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
  const score = (against: string, events: RunEvent[]): Chart => {
    const title = `Score against ${against}, %`;
    return { title, percent: true, even: true, lines: scoreLines(events) };
  };
  const chart = (title: string, lines: Line[]): Chart =>
    ({ title, percent: title.endsWith('%'), lines });
  const ofSelfPlay = (name: string, field: string, factor = 1): Line =>
    ({ name, points: pointsOf(selfPlay, field, factor) });
  return [
    ...[...grouped(metrics.of('strength'), 'opponent')].flatMap(
      ([opponent, events]) => [
        score(opponent, events),
        chart(`Strength over ${opponent}, Elo`, scoreLines(events, eloOf)),
      ]),
    score('the best checkpoint (gate)', metrics.of('gate')),
    chart('Policy loss, nats', lossLines('policy_loss')),
    chart('Value loss, nats', lossLines('value_loss')),
    chart('Self-play, games per second', [
      ofSelfPlay('games/s', 'games_per_second'),
    ]),
    chart('Positions of self-play, %', [
      ofSelfPlay('different ones', 'distinct_share', 100),
      ofSelfPlay('evaluations from the cache', 'cached_share', 100),
    ]),
  ].filter(({ lines }) => lines.some(({ points }) => points.size > 1));
}

// What a colour of the style sheet is now, for canvases.
function colour(name: string): string {
  const probe = h('i');
  document.body.append(probe);
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// The colour of a line: a variant's is the same in all charts. They differ by
// lightness, too, for people who see few colours.
function lineColour(line: Line, place: number, variants: string[]): string {
  const light = isDark() ? 62 : 36;
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
  // Generations and actions are whole numbers.
  const incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6];
  const whole = x.startsWith('hours') ? {} : { incrs };
  return [
    { ...axis, size: 32, label: x, ...whole },
    { ...axis, size: 46, label: y },
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

// How the charts are drawn.
interface Style {
  readonly variants: string[]; // of the run
  readonly axis: Axis;
  readonly places: Points | null; // of generations on the axis; null: theirs
  readonly width: number; // of means; 1: none
}

// Draws a chart into its place.
function plot(chart: Chart, place: HTMLElement, style: Style): uPlot {
  const { variants, axis, places, width } = style;
  const generations = [
    ...new Set(chart.lines.flatMap(({ points }) => [...points.keys()])),
  ].filter((each) => places?.has(each) ?? true).sort((a, b) => a - b);
  const column = (points: Points): (number | null)[] =>
    generations.map((generation) => points.get(generation) ?? null);
  const series: uPlot.Series[] = [{ label: axis }];
  const data = [places === null ? generations : column(places)];
  const bands: uPlot.Band[] = [];
  const digits = chart.percent ? 1 : chart.title.endsWith('Elo') ? 0 : 3;
  const show = (value: number | null): string =>
    value === null ? '–' : value.toFixed(digits);
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
    data.push(column(smoothed(points, width)));
    // Bands of many lines would cover each other, and means have others.
    const isAlone = chart.lines.length === 1 && width === 1;
    if (low === undefined || high === undefined || !isAlone) return;
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
    axes: axes(axis, chart.title.split(', ').at(-1)!),
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
  private metrics: Metrics | null = null;
  private readonly charts = h('div.charts');
  private readonly axis = select('Draw over', () => this.redraw(),
    AXES.map((name) => [name, `over ${name}`]));
  private readonly width = select('Smoothing', () => this.redraw(),
    [1, 3, 10].map((n) => [n, n === 1 ? 'every value' : `means of ${n}`]));

  constructor() {
    const saveCsv = (): void => {
      const charts = chartsOf(this.metrics!);
      download('tara-curves.csv', 'text/csv', csvOf(charts));
    };
    replaceChildren(
      byId('curves'),
      h('div.card.wide.steps',
        this.axis, this.width, button('csv', 'Save as CSV', saveCsv)),
      this.charts,
    );
  }

  draw(metrics: Metrics): void {
    this.metrics = metrics;
    this.redraw();
  }

  private redraw(): void {
    const { metrics } = this;
    if (metrics === null) return;
    for (const each of this.plots) each.destroy();
    const charts = chartsOf(metrics);
    const places = charts.map(() => h('div.plot'));
    const savePicture = (i: number): void =>
      this.plots[i]!.ctx.canvas.toBlob((picture) => {
        if (picture !== null) download(`tara-${i}.png`, 'image/png', picture);
      });
    replaceChildren(
      this.charts,
      strengthTable(metrics),
      charts.length === 0 &&
        h('p.card.wide', 'Curves appear after two generations.'),
      charts.map(({ title }, i) =>
        h('figure.card',
          h('header',
            h('h2', title),
            button('', 'PNG', () => savePicture(i), {
              class: 'quiet',
              title: 'Save as a picture',
              'aria-label': `Save as a picture: ${title}`,
            })),
          places[i])),
    );
    const all = metrics.events.flatMap(({ variant }) => variant ?? []);
    const axis = this.axis.value as Axis;
    const style = {
      variants: [...new Set(all.map(String))],
      axis,
      places: placesOf(metrics, axis),
      width: Number(this.width.value),
    };
    this.plots = charts.map((chart, i) => plot(chart, places[i]!, style));
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
  return h('figure.card.wide',
    h('h2', `Checkpoint ${newest}: score in %, with 95 % intervals`),
    table(['variant', ...opponents], [...variants].map(([variant, events]) =>
      [variant, ...opponents.map((name) => cell(events, name))])));
}

// The newest games, and one of them to step through.
class Games {
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
  private asked = 0; // for a game; answers to an earlier question are dropped

  constructor() {
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
      h('div.card', h('h2', 'Newest games'), this.list, this.error),
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
  private readonly notes = h('figure.card');
  private readonly config = h('pre', { tabindex: 0 }); // keys scroll it

  constructor() {
    const config = h('details.card', h('summary', 'Config'), this.config);
    replaceChildren(byId('rest'), this.notes, config);
  }

  draw(metrics: Metrics, config: string): void {
    const notes = metrics.of('note').slice(-20).reverse();
    this.notes.hidden = notes.length === 0;
    replaceChildren(
      this.notes,
      h('h2', 'Notes'),
      h('ul', notes.map(({ generation, text }) =>
        h('li', `${generation}: ${String(text)}`))),
    );
    this.config.textContent = config;
  }
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
