// The page that watches runs (`tara web --run RUN`): their curves, which grow
// while they learn, what their configs differ in, and their newest games.

import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import '../ui/styles/fonts.css';
import '../ui/styles/theme.css';
import '../ui/styles/page.css';
import '../ui/styles/panels.css';
import './run.css';
import { byId, h, patch, replaceChildren, setText } from '../ui/dom';
import { button, download, select, setOptions, table } from '../ui/parts';
import { applyTheme, theme } from '../ui/preferences';
import { messageOf } from '../error';
import { plot, runColour } from './chart';
import { Games } from './games';
import {
  AXES, Run, chartsOf, csvOf, differences, grouped, stateOf, variantsOf,
  type Axis, type Chart, type RunEvent,
} from './metrics';

const POLL_MS = 3000;

class Curves {
  private plots: uPlot[] = [];
  private charts: Chart[] = [];
  private readonly place = h('div.charts');
  private readonly axis = select('Draw over', () => this.draw(),
    AXES.map((name) => [name, `over ${name}`]));
  private readonly width = select('Smoothing', () => this.draw(),
    [1, 3, 10].map((n) => [n, n === 1 ? 'every value' : `means of ${n}`]));
  private readonly variant = select('Variant', () => this.draw());

  constructor(private readonly runs: readonly Run[]) {
    const saveCsv = (): void =>
      download('tara-curves.csv', 'text/csv', csvOf(this.charts));
    replaceChildren(
      byId('curves'),
      h('div.card.wide.steps', this.axis, this.width, this.variant,
        button('csv', 'Save as CSV', saveCsv)),
      this.place,
    );
  }

  draw(): void {
    const { runs } = this;
    const variants = variantsOf(runs);
    setOptions(this.variant,
      [['', 'all variants'], ...variants.map((name) => [name, name] as const)]);
    this.variant.hidden = variants.length < 2;
    this.charts = chartsOf(runs, this.variant.value);
    for (const each of this.plots) each.destroy();
    const places = this.charts.map(() => h('div.plot'));
    replaceChildren(
      this.place,
      runs.map((run) => strengthTable(run, runs.length > 1)),
      this.charts.length === 0 &&
        h('p.card.wide', 'Curves appear after two generations.'),
      this.charts.map(({ title }, i) =>
        h('figure.card', h('h2', title), places[i])),
    );
    const axis = this.axis.value as Axis;
    const style = { runs, axis, width: Number(this.width.value) };
    this.plots = this.charts.map((chart, i) => plot(chart, places[i]!, style));
  }
}

// The last result of a run's newest checkpoint, by variant and opponent.
function strengthTable(run: Run, isNamed: boolean): HTMLElement | null {
  const strength = run.of('strength');
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
  const name = isNamed ? `${run.about.name}, checkpoint` : 'Checkpoint';
  return h('figure.card.wide', { tabindex: 0 }, // keys scroll it
    h('h2', `${name} ${newest}: score in %, with 95 % intervals`),
    table(['variant', ...opponents], [...variants].map(([variant, events]) =>
      [variant, ...opponents.map((opponent) => cell(events, opponent))])));
}

// Draws what the configs differ in, notes and configs, which stay folded out.
function drawRest(runs: readonly Run[]): void {
  const title = (what: string, { about }: Run): string =>
    runs.length > 1 ? `${what}: ${about.name}` : what;
  const scrolls = { tabindex: 0 }; // by keys
  const rows = differences(runs);
  const notes = runs
    .map((run) => [run, run.of('note').slice(-20).reverse()] as const)
    .filter(([, of]) => of.length > 0);
  patch(
    byId('rest'),
    h('figure.card.wide', { ...scrolls, hidden: rows.length === 0 },
      h('h2', 'Differences of the configs'),
      table(['field', ...runs.map(({ about }) => about.name)], rows)),
    h('figure.card', { hidden: notes.length === 0 }, notes.map(([run, of]) => [
      h('h2', title('Notes', run)),
      h('ul', of.map(({ generation, text }) =>
        h('li', `${generation}: ${String(text)}`))),
    ])),
    runs.map((run) => h('details.card',
      h('summary', title('Config', run)),
      h('pre', scrolls, run.about.config))),
  );
}

// Says how far each run is.
function showStates(runs: readonly Run[]): void {
  patch(byId('run-state'), runs.map((run, i) => h('p',
    runs.length > 1 && [
      h('i.swatch', { style: `background: ${runColour(i)}` }),
      h('strong', run.about.name),
      ' ',
    ],
    stateOf(run))));
}

// Waits until the server names its runs, and reads them.
async function findRuns(): Promise<Run[]> {
  const runs: Run[] = [];
  do {
    const run = new Run(runs.length);
    await run.read();
    runs.push(run);
  } while (runs.length < runs[0]!.about.runs);
  return runs;
}

// Shows runs. Returns what draws them again, and what asks for news of them.
function show(runs: readonly Run[]) {
  const curves = new Curves(runs);
  const games = new Games(runs);
  const names = runs.map(({ about }) => about.name).join(', ');
  document.title = `Tara: ${names}`;
  setText(byId('run-name'), names);
  const draw = (): void => {
    curves.draw();
    drawRest(runs);
    games.draw();
    showStates(runs);
  };
  const refresh = async (): Promise<void> => {
    // One after the other: the page draws them together.
    let isNew = false;
    for (const run of runs) isNew = (await run.read()) || isNew;
    if (isNew) draw();
    await games.refresh();
    showStates(runs);
  };
  draw();
  return { draw, refresh };
}

async function main(): Promise<void> {
  applyTheme(theme());
  const error = byId('run-error');
  let page: ReturnType<typeof show> | null = null;
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) page?.draw();
    width = innerWidth;
  });
  const night = matchMedia('(prefers-color-scheme: dark)');
  night.addEventListener('change', () => page?.draw());
  for (;;) {
    try {
      page ??= show(await findRuns());
      await page.refresh();
      setText(error, '');
      document.body.classList.add('ready');
    } catch (failure) {
      setText(error, `No answer from the server: ${messageOf(failure)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

main().catch((error: unknown) => {
  setText(byId('run-error'), messageOf(error));
});
