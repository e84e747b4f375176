// A chart of a run's page, drawn by uPlot in the page's colours.

import uPlot from 'uplot';
import { h } from '../ui/dom';
import { isDark } from '../ui/preferences';
import {
  placed, smoothed, variantsOf, type Axis, type Chart, type Line, type Run,
} from './metrics';

const FONT = '13px "Alegreya Sans", system-ui, sans-serif';
const MAX_BANDS = 4; // more bands would cover each other

// What a colour of the style sheet is now, for canvases.
export function colour(name: string): string {
  const probe = h('i');
  document.body.append(probe);
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// The colour of the run at a place among several. They differ by lightness,
// too, for people who see few colours.
export function runColour(place: number): string {
  const light = (isDark() ? 58 : 34) + (place % 3) * 9;
  return `hsl(${(25 + 137 * place) % 360} 60% ${light}%)`;
}

// The colour of a line of a single run: a variant's is the same in all charts.
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
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
  };
  // All but hours are whole numbers.
  const incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6];
  const whole = x === 'hours' ? {} : { incrs };
  return [
    { ...axis, size: 32, label: x, ...whole },
    {
      ...axis,
      size: 46,
      label: y,
      values: (_, ticks) => ticks.map((at) => withMinus(at.toLocaleString('en'))),
    },
  ];
}

// Draws a dashed line at 50 %.
function markEven({ ctx, bbox, valToPos }: uPlot): void {
  const y = valToPos(50, 'y', true);
  ctx.save();
  ctx.strokeStyle = colour('--faint');
  ctx.setLineDash([6, 5]);
  ctx.stroke(new Path2D(`M${bbox.left} ${y}h${bbox.width}`));
  ctx.restore();
}

function withMinus(number: string): string {
  return number.replace('-', '\u2212');
}

// Draws lines into a place, by the columns of `data`. The legend has the values
// at `shown` where nothing is pointed at.
export function draw(
  place: HTMLElement,
  [x, y]: readonly [x: string, y: string],
  isEven: boolean, // is there a line at 50 %
  shown: () => number,
  options: Pick<uPlot.Options, 'height' | 'series'> & Partial<uPlot.Options>,
  data: readonly (readonly (number | null)[])[],
): uPlot {
  const showLegend = (chart: uPlot): void => {
    if (typeof chart.legend.idx !== 'number') chart.setLegend({ idx: shown() });
  };
  const chart = new uPlot({
    ...options,
    width: Math.max(260, place.clientWidth),
    axes: axes(x, y),
    scales: { x: { time: false }, y: y === '%' ? { range: [0, 100] } : {} },
    hooks: { setLegend: [showLegend], drawAxes: isEven ? [markEven] : [] },
  }, data as unknown as uPlot.AlignedData, place);
  showLegend(chart);
  return chart;
}

// How the charts are drawn.
export interface Style {
  readonly runs: readonly Run[];
  readonly axis: Axis;
  readonly width: number; // of means; 1: none
}

// Draws a chart into its place.
export function plot(chart: Chart, place: HTMLElement, style: Style): uPlot {
  const { runs, axis, width } = style;
  const { title } = chart;
  const unit = title.split(', ').at(-1)!;
  const variants = variantsOf(runs);
  const places = new Map(runs.map((run) => [run, run.places(axis)]));
  const lines = chart.lines.map((line) => {
    const at = places.get(line.run)!;
    const { points, low = new Map(), high = new Map() } = line;
    return {
      ...line,
      points: smoothed(placed(points, at), width),
      low: placed(low, at),
      high: placed(high, at),
    };
  });
  const xs = [...new Set(lines.flatMap(({ points }) => [...points.keys()]))]
    .sort((a, b) => a - b);
  const digits = unit === '%' ? 1 : unit === 'Elo' ? 0 : 3;
  // Means have other intervals.
  const hasBands = width === 1 &&
    lines.filter(({ low }) => low.size > 0).length <= MAX_BANDS;
  // A short run is a small part of an hour.
  const hours = (_: uPlot, at: number | null): string => at?.toPrecision(3) ?? '–';
  const series: uPlot.Series[] =
    [{ label: axis, ...(axis === 'hours' ? { value: hours } : {}) }];
  const data: (number | null)[][] = [xs];
  const bands: uPlot.Band[] = [];
  const isAlone = runs.length === 1;
  lines.forEach(({ run, name, points, low, high, ...line }, i) => {
    // Runs differ by colour, and the lines of each by dashes.
    const ofRun = lines.slice(0, i).filter((each) => each.run === run).length;
    const stroke = isAlone
      ? lineColour(chart.lines[i]!, i, variants)
      : runColour(runs.indexOf(run));
    const show = (at: number | null): string => {
      // Where runs have values at different places, the last one before it.
      const x = xs.slice(0, (at ?? -1) + 1).reverse().find((x) => points.has(x));
      if (x === undefined) return '–';
      const text = (of: number): string => withMinus(of.toFixed(digits));
      const from = low.get(x);
      const to = high.get(x);
      return text(points.get(x)!) + (
        width > 1 || from === undefined || to === undefined
          ? '' : ` [${text(from)}, ${text(to)}]`);
    };
    series.push({
      label: isAlone ? name : `${run.about.name}: ${name}`,
      stroke,
      width: 2,
      ...(isAlone ? {} : { dash: [[], [7, 4], [2, 3]][ofRun % 3]! }),
      spanGaps: true,
      points: { show: xs.length < 30 },
      value: (_, __, ___, at) => show(at),
    });
    data.push(xs.map((x) => points.get(x) ?? null));
    if (!hasBands || low.size === 0 || line.variant === undefined) return;
    const bound = {
      class: 'bound', stroke: 'transparent', points: { show: false },
      spanGaps: true,
    };
    series.push(bound, bound);
    data.push(xs.map((x) => low.get(x) ?? null), xs.map((x) => high.get(x) ?? null));
    bands.push({
      series: [series.length - 1, series.length - 2],
      fill: stroke.replace(')', ' / 18%)'),
    });
  });
  const cursor = { sync: { key: 'generations' } };
  return draw(
    place, [axis, unit], title.startsWith('Score'), () => xs.length - 1,
    { height: 210, series, bands, cursor }, data);
}
