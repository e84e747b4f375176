// What runs have written, and the lines of charts made of it.
// tara/cli/web.cc says what the server has, docs/reference/metrics.md what a
// run writes.

// A line of metrics.jsonl.
export interface RunEvent {
  event: string;
  generation: number;
  [field: string]: unknown;
}

interface About {
  name: string; // of the run
  config: string; // its text, which a later start may change
  quiet: number | null; // seconds since it wrote its metrics; null: none yet
  running: boolean | null; // null: unknown
  runs: number; // that the server has
}

// Values by generation or by place on an axis.
export type Points = ReadonlyMap<number, number>;

// A line of a chart, and where it has them the bounds of its 95 % intervals.
export interface Line {
  run: Run;
  name: string;
  variant?: string; // that it is of
  points: Points;
  low?: Points;
  high?: Points;
}

export interface Chart {
  title: string;
  lines: Line[];
}

// What curves are drawn over. The sums are of the time and games before a
// checkpoint.
export const AXES = ['generation', 'games', 'samples', 'hours'] as const;
export type Axis = (typeof AXES)[number];

// Returns where the server has a file of a run.
export function addressOf(run: number, name: string): string {
  const more = run === 0 ? '' : `${name.includes('?') ? '&' : '?'}run=${run}`;
  return `./run/${name}${more}`;
}

// Gets a file of a run; throws with the server's words.
export async function getFile(run: number, name: string): Promise<Response> {
  const response = await fetch(addressOf(run, name));
  if (response.ok) return response;
  throw new Error((await response.text()).trim());
}

// A run as far as it has got.
export class Run {
  readonly events: RunEvent[] = [];
  about: About = { name: '', config: '', quiet: null, running: null, runs: 1 };
  private bytes = 0;

  constructor(readonly index: number) {}

  // Reads what is new. Returns whether there was anything to draw.
  async read(): Promise<boolean> {
    const { config } = this.about;
    const get = (name: string): Promise<Response> => getFile(this.index, name);
    const response = await get(`metrics.jsonl?from=${this.bytes}`);
    const data = new Uint8Array(await response.arrayBuffer());
    const end = data.lastIndexOf('\n'.charCodeAt(0)) + 1; // of whole lines
    this.bytes += end;
    const lines = new TextDecoder().decode(data.subarray(0, end)).split('\n');
    for (const line of lines) {
      if (line !== '') this.events.push(JSON.parse(line) as RunEvent);
    }
    this.about = (await (await get('about.json')).json()) as About;
    return end > 0 || this.about.config !== config;
  }

  of(event: string): RunEvent[] {
    return this.events.filter((each) => each.event === event);
  }

  get learned(): number {
    return this.of('learning').at(-1)?.generation ?? 0;
  }

  // Hours of self-play and learning before each checkpoint: evaluations are not
  // counted.
  hours(): Points {
    const overlaps = fieldsOf(this.about.config).get('overlap') === 'true';
    const sums: [number, number][] = [[0, 0]];
    const learning = pointsOf(this.of('learning_speed'), 'seconds');
    let sum = 0;
    for (const [generation, events] of grouped(this.of('self_play'), 'generation')) {
      const played = total(events, 'seconds');
      const learned = learning.get(Number(generation) + 1) ?? 0;
      sum += (overlaps ? Math.max(played, learned) : played + learned) / 3600;
      sums.push([Number(generation) + 1, sum]);
    }
    return new Map(sums);
  }

  // Returns the place of each generation on an axis; null: itself.
  places(axis: Axis): Points | null {
    if (axis === 'generation') return null;
    if (axis === 'hours') return this.hours();
    if (axis === 'samples') {
      return new Map([[0, 0], ...pointsOf(this.of('learning'), 'samples')]);
    }
    let sum = 0;
    return new Map([[0, 0], ...this.of('self_play').map(({ generation, games }) =>
      [generation + 1, (sum += Number(games))] as const)]);
  }
}

function total(events: readonly RunEvent[], field: string): number {
  return events.reduce((sum, { [field]: value }) => sum + Number(value), 0);
}

function pointsOf(
  events: readonly RunEvent[],
  field: string,
  scale = (value: number): number => value,
): Points {
  const points = new Map<number, number>();
  for (const { generation, [field]: value } of events) {
    if (typeof value !== 'number') continue;
    const scaled = scale(value);
    if (Number.isFinite(scaled)) points.set(generation, scaled);
  }
  return points;
}

// Events by the text of a field, in the order of their first ones.
export function grouped(
  events: readonly RunEvent[],
  field: string,
): Map<string, RunEvent[]> {
  return Map.groupBy(events, (event) => String(event[field]));
}

// The variants that the runs have played, in the order of their first events.
export function variantsOf(runs: readonly Run[]): string[] {
  const all = runs.flatMap(({ events }) => [...grouped(events, 'variant').keys()]);
  return [...new Set(all)].filter((name) => name !== 'undefined');
}

const percent = (share: number): number => 100 * share;

// The difference in Elo that a score stands for; infinite for 0 and 1.
const elo = (score: number): number => -400 * Math.log10(1 / score - 1);

function chartsOfRun(run: Run): Chart[] {
  const learning = run.of('learning');
  const scores = (events: RunEvent[], scale = percent): Line[] =>
    [...grouped(events, 'variant')].map(([name, of]) => ({
      run,
      name,
      variant: name,
      points: pointsOf(of, 'score', scale),
      low: pointsOf(of, 'score_low', scale),
      high: pointsOf(of, 'score_high', scale),
    }));
  const losses = (field: string): Line[] => [
    { run, name: 'learned from', points: pointsOf(learning, field) },
    ...[...grouped(run.of('held_out'), 'variant')].map(([variant, events]) => ({
      run,
      name: `held out, ${variant}`,
      variant,
      points: pointsOf(events, field),
    })),
  ];
  const lines = (
    event: string,
    fields: Record<string, string>,
    scale?: (value: number) => number,
  ): Line[] =>
    Object.entries(fields).map(([field, name]) =>
      ({ run, name, points: pointsOf(run.of(event), field, scale) }));
  const config = fieldsOf(run.about.config);
  const threads = Number(config.get('self_play.threads'));
  const idle = lines('self_play', { cores: `cores, of ${threads}` },
    (cores) => percent(Math.max(0, 1 - cores / threads)));
  if ((config.get('inference.device') ?? 'cpu') !== '"cpu"') {
    // While no thread evaluates, the device has nothing to do.
    idle.push(...lines('self_play', { evaluate_share: 'device, at most' },
      (share) => percent(1 - share)));
  }
  return [
    ...[...grouped(run.of('strength'), 'opponent')].flatMap(
      ([opponent, events]) => [
        { title: `Score against ${opponent}, %`, lines: scores(events) },
        { title: `Strength over ${opponent}, Elo`, lines: scores(events, elo) },
      ]),
    {
      title: 'Score against the best checkpoint (gate), %',
      lines: scores(run.of('gate')),
    },
    { title: 'Policy loss, nats', lines: losses('policy_loss') },
    { title: 'Value loss, nats', lines: losses('value_loss') },
    {
      title: 'Self-play, games per second',
      lines: lines('self_play', { games_per_second: 'games/s' }),
    },
    {
      title: 'Positions of self-play, %',
      lines: lines('self_play', {
        distinct_share: 'different ones',
        cached_share: 'evaluations from the cache',
        batch_fill: 'places of a batch in use',
      }, percent),
    },
    { title: 'Idle during self-play, %', lines: idle },
    {
      title: 'Time of the learning thread, %',
      lines: lines('learning_speed', {
        step_share: 'steps',
        wait_for_batch_share: 'idle, waiting for batches',
        read_share: 'waiting for the device',
      }, percent),
    },
  ];
}

// Returns the charts of all runs, with lines of the same title in one, of one
// variant or of all (''). Charts without a curve are left out.
export function chartsOf(runs: readonly Run[], variant: string): Chart[] {
  const charts = new Map<string, Line[]>();
  for (const { title, lines } of runs.flatMap(chartsOfRun)) {
    const shown = lines.filter(
      (line) => variant === '' || (line.variant ?? variant) === variant);
    charts.set(title, [...(charts.get(title) ?? []), ...shown]);
  }
  return [...charts]
    .map(([title, lines]) => ({ title, lines }))
    .filter(({ lines }) => lines.some(({ points }) => points.size > 1));
}

// Moves values by generation to their places on an axis.
export function placed(points: Points, places: Points | null): Points {
  if (places === null) return points;
  return new Map([...points].flatMap(([generation, value]) => {
    const place = places.get(generation);
    return place === undefined ? [] : [[place, value] as const];
  }));
}

// Means over the last `width` values.
export function smoothed(points: Points, width: number): Points {
  const all = [...points];
  return new Map(all.map(([place], i) => {
    const last = all.slice(Math.max(0, i + 1 - width), i + 1);
    return [place, last.reduce((sum, [, y]) => sum + y, 0) / last.length];
  }));
}

export function csvOf(charts: readonly Chart[]): string {
  const rows = charts.flatMap(({ title, lines }) =>
    lines.flatMap(({ run, name, points, low, high }) =>
      [...points].map(([at, value]) =>
        [run.about.name, title, name, at, value, low?.get(at), high?.get(at)])));
  const cell = (value: string | number | undefined): string =>
    typeof value === 'string'
      ? `"${value.replaceAll('"', '""')}"`
      : String(value ?? '');
  const heads = 'run,chart,line,generation,value,low,high';
  return [heads, ...rows.map((row) => row.map(cell).join(',')), ''].join('\n');
}

// Returns the fields of a config by their paths; values of repeated fields are
// joined.
export function fieldsOf(config: string): Map<string, string> {
  const fields = new Map<string, string>();
  const path: string[] = [];
  for (const line of config.split('\n')) {
    const [, name, value] = /^\s*(\w+)\s*(?::\s*(.*)|\{)$/.exec(line) ?? [];
    if (/^\s*\}/.test(line)) path.pop();
    if (name === undefined) continue;
    if (value === undefined) {
      path.push(name);
      continue;
    }
    const key = [...path, name].join('.');
    const before = fields.get(key);
    fields.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

// Returns what differs between the configs of runs: rows of a field and its
// value in each, '–' for none.
export function differences(runs: readonly Run[]): string[][] {
  const all = runs.map(({ about }) => fieldsOf(about.config));
  const names = new Set(all.flatMap((fields) => [...fields.keys()]));
  names.delete('run_dir');
  return [...names]
    .map((name) => [name, ...all.map((fields) => fields.get(name) ?? '–')])
    .filter(([, first, ...others]) => others.some((each) => each !== first));
}

// "3 min", "5 h" or "2 days": coarse, so that it changes seldom.
function lasting(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

// Seconds that the missing generations take at the speed of the last three;
// null before the first one.
function secondsLeft(run: Run, wanted: number): number | null {
  const hours = [...run.hours().values()];
  const recent = hours.slice(-4);
  if (recent.length < 2) return null;
  const each = (recent.at(-1)! - recent[0]!) / (recent.length - 1);
  return 3600 * each * Math.max(0, wanted - run.learned);
}

// "Running: generation 3 of 10, 4,800 games, ..."
export function stateOf(run: Run): string {
  const { config, quiet, running } = run.about;
  const wanted = fieldsOf(config).get('generations');
  const selfPlay = run.of('self_play');
  const { learned } = run;
  const speed = Number(selfPlay.at(-1)?.['games_per_second'] ?? 0);
  // A later start with more generations learns on.
  const finished = running !== true && run.of('strength')
    .some((each) => each['final'] === true && each.generation === learned);
  const state = finished ? 'Finished'
    : running === null ? 'Not finished'
    : running ? 'Running' : 'Stopped';
  const left = running === true && wanted !== undefined
    ? secondsLeft(run, Number(wanted)) : null;
  return [
    `${state}: generation ${learned}` +
      (wanted === undefined ? '' : ` of ${wanted}`),
    `${total(selfPlay, 'games').toLocaleString('en')} games`,
    ...(speed > 0 ? [`${speed.toFixed(1)} games/s in the latest generation`] : []),
    ...(left === null ? [] : [`${lasting(left)} left, without evaluations`]),
    ...(quiet === null ? [] : [`last entry ${lasting(quiet)} ago`]),
  ].join(', ');
}
