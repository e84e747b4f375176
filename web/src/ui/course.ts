// The chances along a game: one evaluation per ply, made as the game is played,
// and later for plies that have none. The result of a search, for a hint or a
// review, replaces the network's first evaluation of a ply.

import { Latest } from '../latest';
import type {
  Engine, Evaluation, Game, Score, SearchProgress,
} from '../engine/api';

export interface CoursePoint {
  readonly red: number; // probability that Red wins
  readonly draw: number;
  readonly redMargin: number; // expected points of Red minus Blue's
  readonly by: 'network' | 'playouts' | 'result';
  readonly isSearched: boolean; // else it is judged at first sight
}

export class CourseOfGame {
  // By the actions that lead to the position, so that what is known of a line
  // stays known while another one is on the board.
  private readonly points = new Map<string, CoursePoint>();
  private keys: readonly string[] = ['']; // by ply
  private readonly latest = new Latest(); // of the questions to the engine

  constructor(
    private readonly engine: Engine,
    private readonly changed: () => void,
  ) {}

  at(ply: number): CoursePoint | undefined {
    return this.points.get(this.keys[ply] ?? '?');
  }

  clear(): void {
    this.latest.drop();
    this.points.clear();
  }

  // Drops the answers that are on their way: the engine's game is to change.
  interrupt(): void {
    this.latest.drop();
  }

  // Another line of actions is on the board.
  follow({ actions }: Pick<Game, 'actions'>): void {
    const keys = [''];
    for (const { action } of actions) {
      keys.push(`${keys.at(-1)!} ${action.notation}`);
    }
    this.keys = keys;
  }

  private set(ply: number, point: CoursePoint): void {
    this.points.set(this.keys[ply]!, point);
  }

  add(evaluation: Evaluation): void {
    const { ply, win, draw, redMargin, by } = evaluation;
    if (this.at(ply)?.isSearched) return;
    this.set(ply, { red: win[0], draw, redMargin, by, isSearched: false });
  }

  // A search does not tell a draw from half a win.
  addSearch({ ply, redValue, redMargin, by }: SearchProgress): void {
    const red = (1 + redValue) / 2;
    this.set(ply, { red, draw: 0, redMargin, by, isSearched: true });
  }

  finish(ply: number, score: Score): void {
    this.set(ply, {
      red: score.winner === 0 ? 1 : 0,
      draw: score.winner === null ? 1 : 0,
      redMargin: score.points[0] - score.points[1] - score.compensation,
      by: 'result',
      isSearched: false,
    });
  }

  // Judges the plies of the game that have no judgement yet.
  async complete({ actions, ply: here }: Game): Promise<void> {
    const last = actions.length;
    try {
      for (let ply = 0; ply < last; ++ply) {
        if (this.at(ply) !== undefined) continue;
        this.add(await this.latest.answer(this.engine.evaluate(ply)));
        this.changed();
      }
      if (this.at(last) !== undefined || here === last) return;
      const end = await this.latest.answer(this.engine.positionAt(last));
      if (!end.finished) return;
      this.finish(last, end.score);
      this.changed();
    } catch {
      // A ply without a judgement is a gap in the plot; judging the position
      // on the board shows what is wrong.
    }
  }
}
