// How a person has done against levels of known strength: results that the
// browser keeps, and what strength they tell of.

import type { Engine, Level, RatedGame, VariantInfo } from '../engine/api';

const KEY = 'tara.results';
const VERSION = 1;
const MOST = 400; // games kept; the oldest go first
// Of a variant: who plays more often may have become stronger meanwhile.
const LATEST = 40;
const Z95 = 1.96;

// A finished game that tells of the person's strength. The opponent's rating is
// that of the time: levels may change.
interface Result extends RatedGame {
  readonly variant: string;
  readonly level: string;
  readonly endedMs: number; // since 1970
}

export interface Standing {
  readonly games: number;
  readonly elo: number;
  readonly interval: number; // of 95 %: elo plus or minus this
  readonly next: Level; // the level that is closest
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

// Returns what is kept, the oldest first. What is damaged is left out.
function read(): Result[] {
  try {
    const { version, games } = JSON.parse(
      localStorage.getItem(KEY) ?? '{}',
    ) as { version?: unknown; games?: unknown };
    if (version !== VERSION || !Array.isArray(games)) return [];
    return games.filter(isResult);
  } catch {
    return [];
  }
}

export class Results {
  constructor(private readonly engine: Engine) {}

  // Keeps the score (1 won, 0.5 drawn, 0 lost) of a game against a level. A
  // browser that refuses it forgets.
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
    try {
      localStorage.setItem(KEY, JSON.stringify({ version: VERSION, games }));
    } catch {
      // Nothing is kept.
    }
  }

  // Returns what the kept games of a variant tell; null: there are none.
  async standing(variant: VariantInfo): Promise<Standing | null> {
    const games = read()
      .filter((game) => game.variant === variant.id)
      .slice(-LATEST);
    if (games.length === 0) return null;
    const { elo, deviation } = await this.engine.rate(variant.id, games);
    const distance = (level: Level): number =>
      Math.abs(level.elo[variant.id]!.elo - elo);
    const next = this.engine.info.levels.reduce((best, level) =>
      distance(level) < distance(best) ? level : best,
    );
    return { games: games.length, elo, interval: Z95 * deviation, next };
  }
}
