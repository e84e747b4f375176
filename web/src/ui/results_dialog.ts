// The person's own results: games by variant and opponent, and the rating over
// time.

import { Dialog } from './dialog';
import { h, replaceChildren, s } from './dom';
import { table } from './parts';
import { levelName } from './players';
import { plural, ratingInWords, tens } from './words';
import type { App } from './app';
import type { PersonRating, VariantResults } from './results';

const WIDTH = 320;
const HEIGHT = 90;
const EDGE = 6;

export class ResultsDialog {
  private readonly dialog = new Dialog('results', 'My results');

  constructor(private readonly app: App) {}

  async open(): Promise<void> {
    const all = await this.app.results.all();
    replaceChildren(
      this.dialog.body,
      all.map((each) => this.section(each)),
      h('p.faint',
        'Games against one level of the built-in network count if you play ' +
          'them from start to end, with the usual rules and without help or ' +
          'undo. This browser keeps the latest 400.'),
    );
    this.dialog.open();
  }

  private section(found: VariantResults): HTMLElement {
    const { variant, games, scores, ratings } = found;
    const latest = ratings.at(-1);
    const rating = latest === undefined
      ? 'There is a rating after five games.'
      : `${ratingInWords(latest)}.`;
    const { levels } = this.app.engine.info;
    const nameOf = (id: string): string =>
      levelName(levels.find((level) => level.id === id)!);
    return h('section',
      h('h3', variant.name),
      h('p', `${plural(games, 'game')}. ${rating}`),
      ratings.length > 1 && curve(ratings),
      table(
        ['Opponent', 'Won', 'Drawn', 'Lost'],
        scores.map(({ level, won, drawn, lost }) =>
          [nameOf(level), won, drawn, lost]),
      ));
  }
}

// Returns the rating after each game, in its band of 95 %.
function curve(ratings: readonly PersonRating[]): SVGElement {
  const lows = ratings.map(({ elo, interval }) => elo - interval);
  const highs = ratings.map(({ elo, interval }) => elo + interval);
  const [least, most] = [Math.min(...lows), Math.max(...highs)];
  const x = (i: number): number =>
    EDGE + (i / (ratings.length - 1)) * (WIDTH - 2 * EDGE);
  const y = (elo: number): number =>
    HEIGHT - EDGE - ((elo - least) / (most - least)) * (HEIGHT - 2 * EDGE);
  const path = (elos: readonly number[]): string[] =>
    elos.map((elo, i) => `${x(i).toFixed(1)} ${y(elo).toFixed(1)}`);
  const upper = path(highs);
  const lower = path(lows).reverse();
  return s(
    'svg.rating-curve',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label':
        `Elo after each game: first ${tens(ratings[0]!.elo)}, now ` +
        `${tens(ratings.at(-1)!.elo)}`,
    },
    s('path.band', { d: `M${[...upper, ...lower].join('L')}Z` }),
    s('path.rating', { d: `M${path(ratings.map(({ elo }) => elo)).join('L')}` }),
    s('text', { x: WIDTH - EDGE, y: EDGE + 10 }, `${tens(most)} Elo`),
    s('text', { x: WIDTH - EDGE, y: HEIGHT - EDGE }, `${tens(least)} Elo`),
  );
}
