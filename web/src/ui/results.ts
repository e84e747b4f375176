// How a person has done against levels of known strength: results that the
// browser keeps, and what strength they tell of.

import { fieldsOf, readText, write } from './storage';
import type { Engine, Level, RatedGame, VariantInfo } from '../engine/api';

const KEY = 'tara.results';
const VERSION = 1;
const MOST = 400; // games kept; the oldest go first
// Of a variant: who plays more often may have become stronger meanwhile.
const LATEST = 40;
const Z95 = 1.96;
// Fewer games say nothing: one win has an interval of some 2000 points.
const MIN_GAMES = 5;

// A finished game that tells of the person's strength. The opponent's rating is
// that of the time: levels may change.
interface Result extends RatedGame {
  readonly variant: string;
  readonly level: string;
  readonly endedMs: number; // since 1970
}

export interface Standing {
  readonly games: number;
  // Null while there are too few games to tell.
  readonly rating: PersonRating | null;
  readonly next: Level; // to play next
}

// The games against one level.
export interface Score {
  readonly level: string; // its id
  readonly won: number;
  readonly drawn: number;
  readonly lost: number;
}

// What is kept of a variant.
export interface VariantResults {
  readonly variant: VariantInfo;
  readonly games: number;
  readonly scores: readonly Score[]; // the weakest opponent first
  // After each game from the fifth on, by the latest games until then.
  readonly ratings: readonly PersonRating[];
}

export interface PersonRating {
  readonly elo: number;
  readonly interval: number; // of 95 %: elo plus or minus this
}

// Returns the level to play next, one step at most from that of the latest
// game: by its score without a rating, then towards the rating, but upwards
// only as far as the lower end of its interval reaches.
export function nextLevel(
  levels: readonly Level[],
  variant: string,
  latest: { readonly level: string; readonly score: number },
  rating: PersonRating | null,
): Level {
  const elos = levels.map((level) => level.elo[variant]!.elo);
  const nearest = (elo: number): number => {
    const distances = elos.map((each) => Math.abs(each - elo));
    return distances.indexOf(Math.min(...distances));
  };
  // That of a level of former days is not known.
  const found = levels.findIndex(({ id }) => id === latest.level);
  const now = Math.max(0, found);
  const goal =
    rating === null
      ? now + Math.sign(latest.score - 0.5)
      : nearest(rating.elo) <= now
        ? nearest(rating.elo)
        : Math.max(now, nearest(rating.elo - rating.interval));
  const next = now + Math.sign(goal - now);
  return levels[Math.min(levels.length - 1, Math.max(0, next))]!;
}

function isResult(value: unknown): value is Result {
  const { variant, level, elo, deviation, began, score, endedMs } =
    (value ?? {}) as Partial<Record<keyof Result, unknown>>;
  return (
    typeof variant === 'string' &&
    typeof level === 'string' &&
    [elo, deviation, endedMs].every(Number.isFinite) &&
    typeof began === 'boolean' &&
    (score === 0 || score === 0.5 || score === 1)
  );
}

// Returns the kept results, the oldest first, without damaged ones.
function read(): Result[] {
  const { version, games } = fieldsOf(readText(KEY));
  if (version !== VERSION || !Array.isArray(games)) return [];
  return games.filter(isResult);
}

function gamesOf({ id }: VariantInfo): Result[] {
  return read().filter(({ variant }) => variant === id);
}

export class Results {
  constructor(private readonly engine: Engine) {}

  // Keeps the score (1 won, 0.5 drawn, 0 lost) of a game against a level. It is
  // lost if the browser refuses.
  add(
    variant: VariantInfo,
    level: Level,
    game: Pick<RatedGame, 'began' | 'score'>,
  ): void {
    const { elo, interval } = level.elo[variant.id]!;
    const result: Result = {
      variant: variant.id,
      level: level.id,
      elo,
      deviation: interval / Z95,
      ...game,
      endedMs: Date.now(),
    };
    const games = [...read(), result].slice(-MOST);
    write(KEY, { version: VERSION, games });
  }

  // Returns the standing from the kept games of a variant; null: no games.
  async standing(variant: VariantInfo): Promise<Standing | null> {
    const games = gamesOf(variant).slice(-LATEST);
    if (games.length === 0) return null;
    const { levels } = this.engine.info;
    const rating =
      games.length < MIN_GAMES ? null : await this.rate(variant, games);
    const next = nextLevel(levels, variant.id, games.at(-1)!, rating);
    return { games: games.length, rating, next };
  }

  // Returns the results of all variants that have games.
  async all(): Promise<VariantResults[]> {
    const { variants, levels } = this.engine.info;
    const found: VariantResults[] = [];
    for (const variant of variants) {
      const games = gamesOf(variant);
      if (games.length === 0) continue;
      const scores = levels.map(({ id }) => {
        const count = (score: number): number =>
          games.filter((game) => game.level === id && game.score === score)
            .length;
        return { level: id, won: count(1), drawn: count(0.5), lost: count(0) };
      });
      const ratings: PersonRating[] = [];
      for (let last = MIN_GAMES; last <= games.length; ++last) {
        const latest = games.slice(Math.max(0, last - LATEST), last);
        ratings.push(await this.rate(variant, latest));
      }
      found.push({
        variant,
        games: games.length,
        scores: scores.filter(({ won, drawn, lost }) => won + drawn + lost > 0),
        ratings,
      });
    }
    return found;
  }

  private async rate(
    variant: VariantInfo,
    games: readonly Result[],
  ): Promise<PersonRating> {
    const { elo, deviation } = await this.engine.rate(variant.id, games);
    return { elo, interval: Z95 * deviation };
  }
}
