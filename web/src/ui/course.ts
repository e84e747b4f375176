// How the chances went along a game: one judgement a ply, made as the game is
// played, and one after the other for plies that were never looked at. What a
// search has found of a ply, for a hint or a review, takes the place of what was
// judged at first sight.

import type {
  Engine,
  Evaluation,
  Game,
  Score,
  SearchResult,
} from '../engine/api';

export interface CoursePoint {
  readonly red: number; // probability that Red wins
  readonly draw: number;
  readonly redMargin: number; // expected points of Red minus Blue's
  readonly by: 'network' | 'playouts' | 'result';
  readonly isSearched: boolean; // else it is judged at first sight
}

export class CourseOfGame {
  private readonly points: (CoursePoint | undefined)[] = [];
  private era = 0; // answers of an earlier one are dropped
  private filling = false;

  constructor(
    private readonly engine: Engine,
    private readonly changed: () => void,
  ) {}

  at(ply: number): CoursePoint | undefined {
    return this.points[ply];
  }

  clear(): void {
    this.cutAfter(-1);
  }

  // Forgets what comes after a ply.
  cutAfter(ply: number): void {
    ++this.era;
    this.points.length = Math.min(this.points.length, ply + 1);
  }

  add(evaluation: Evaluation): void {
    const { ply, win, draw, redMargin, by } = evaluation;
    if (this.points[ply]?.isSearched) return;
    this.points[ply] = { red: win[0], draw, redMargin, by, isSearched: false };
  }

  // A search does not tell a draw from half a win.
  addSearch({ ply, redValue, redMargin, by }: SearchResult): void {
    const red = (1 + redValue) / 2;
    this.points[ply] = { red, draw: 0, redMargin, by, isSearched: true };
  }

  finish(ply: number, score: Score): void {
    this.points[ply] = {
      red: score.winner === 0 ? 1 : 0,
      draw: score.winner === null ? 1 : 0,
      redMargin: score.points[0] - score.points[1] - score.compensation,
      by: 'result',
      isSearched: false,
    };
  }

  // Judges the plies of the game that have no judgement yet.
  complete(game: Game): void {
    if (!this.filling) void this.fill(game);
  }

  private async fill(game: Game): Promise<void> {
    const { era } = this;
    this.filling = true;
    try {
      for (let ply = 0; ply < game.actions.length; ++ply) {
        if (this.points[ply] !== undefined) continue;
        const evaluation = await this.engine.evaluate(ply);
        if (era !== this.era) return;
        this.add(evaluation);
        this.changed();
      }
      const last = game.actions.length;
      if (this.points[last] !== undefined || game.ply === last) return;
      const end = await this.engine.positionAt(last);
      if (era !== this.era || !end.finished) return;
      this.finish(last, end.score);
      this.changed();
    } catch {
      // A ply without a judgement is a gap in the plot; judging the position
      // on the board shows what is wrong.
    } finally {
      this.filling = false;
    }
  }
}
