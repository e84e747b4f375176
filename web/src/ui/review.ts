// The losses of the actions of a game, as in `tara review`: every position is
// searched, and the position after the best action where another one was
// played. The two are compared by searches with equal numbers of simulations,
// or by a proved result.

import { Latest } from '../latest';
import type {
  Action, Engine, Game, PlayedAction, Position, Search, SearchRequest,
  SearchResult, Side,
} from '../engine/api';

export interface GivenAway {
  readonly ply: number; // of the position before the action
  readonly played: PlayedAction;
  readonly better: Action;
  // Chances that the side to move gave away, above 0 to 1.
  readonly lost: number;
  readonly line: readonly Action[]; // from the better action on
  readonly bestRedValue: number; // after the better one
}

export type ReviewState =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly done: number; readonly total: number }
  // The worst first; at least inaccuracies.
  | { readonly kind: 'done'; readonly found: readonly GivenAway[] };

export type Fault = 'inaccuracy' | 'mistake' | 'blunder';

// Minimum losses, as shares of winning, as in `tara review`.
const FAULTS: readonly (readonly [Fault, number])[] = [
  ['blunder', 0.15],
  ['mistake', 0.1],
  ['inaccuracy', 0.05],
];

export function faultOf(lost: number): Fault | null {
  return FAULTS.find(([, least]) => lost >= least)?.[0] ?? null;
}

// Win minus loss for Red, of a finished game.
function resultOf({ score: { winner } }: Position): number {
  return winner === null ? 0 : winner === 0 ? 1 : -1;
}

// The same each time.
const SEARCH: SearchRequest = { simulations: 256, seed: 1 };

export class ReviewOfGame {
  state: ReviewState = { kind: 'none' };
  game: Game | null = null; // that is or was reviewed
  side: Side | null = null; // whose actions are looked at; null: both sides'
  private readonly latest = new Latest(); // of the questions to the engine
  private search: Search | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly changed: () => void,
    // What a search has found of a position of the game.
    private readonly searchedPly: (result: SearchResult) => void,
  ) {}

  // Forgets what was found, and stops what is under way.
  clear(): void {
    this.latest.drop();
    this.search?.stop();
    this.search = null;
    this.state = { kind: 'none' };
    this.game = null;
  }

  // Reviews a game, in place of what was there. Rejects if the engine fails.
  async run(game: Game): Promise<void> {
    this.clear();
    this.game = game;
    try {
      this.state = { kind: 'done', found: await this.review(game) };
      this.changed();
    } catch (error) {
      this.clear();
      this.changed();
      throw error;
    }
  }

  // Never resolved if it is broken off.
  private async review({ actions }: Game): Promise<GivenAway[]> {
    const last = actions.length;
    let done = 0;
    let total = last + 1;
    const advance = (): void => {
      this.state = { kind: 'running', done: done++, total };
      this.changed();
    };
    const searches: SearchResult[] = [];
    const redValues: number[] = []; // win minus loss, by ply
    for (let ply = 0; ply <= last; ++ply) {
      advance();
      const end = ply < last
        ? null : await this.latest.answer(this.engine.positionAt(last));
      if (end?.finished === true) {
        redValues.push(resultOf(end));
        break;
      }
      const result = await this.searched({ ply });
      searches.push(result);
      redValues.push(result.redValue);
    }
    const others = actions.flatMap((played, ply) => {
      const best = searches[ply]!.action;
      return best.index === played.action.index ? [] : [{ played, ply, best }];
    });
    total += others.length;
    const found: GivenAway[] = [];
    for (const { played, ply, best } of others) {
      advance();
      const after = await this.after(searches[ply]!, best);
      const sign = played.side === 0 ? 1 : -1;
      const lost = (sign * (after.redValue - redValues[ply + 1]!)) / 2;
      if (faultOf(lost) === null) continue;
      found.push({
        ply,
        played,
        better: best,
        lost,
        line: [best, ...after.line],
        bestRedValue: after.redValue,
      });
    }
    return found.sort((a, b) => b.lost - a.lost || a.ply - b.ply);
  }

  // What comes after the best action that a search has found.
  private async after(
    search: SearchResult,
    best: Action,
  ): Promise<{ redValue: number; line: readonly Action[] }> {
    const entry = search.actions.find(({ action }) => action.index === best.index);
    const [low, high] = entry?.provedRedMargin ?? [0, 1];
    if (entry !== undefined && low === high) {
      // The game may be over.
      const goesOn = search.principalVariation[0]?.index === best.index;
      return {
        redValue: entry.redValue,
        line: goesOn ? search.principalVariation.slice(1) : [],
      };
    }
    const { redValue, principalVariation: line } =
      await this.searched({ ply: search.ply, after: best.index });
    return { redValue, line };
  }

  // What another action than that of a mistake would have given away.
  async lostBy(mistake: GivenAway, action: Action): Promise<number> {
    const { ply, better, bestRedValue, played } = mistake;
    if (action.index === better.index) return 0;
    const after = await this.engine.positionAfter(ply, action.index);
    const redValue = after.finished
      ? resultOf(after)
      : (
          await this.engine.search({ ...SEARCH, ply, after: action.index }).result
        ).redValue;
    return ((played.side === 0 ? 1 : -1) * (bestRedValue - redValue)) / 2;
  }

  private async searched(request: SearchRequest): Promise<SearchResult> {
    this.search = this.engine.search({ ...SEARCH, ...request });
    const result = await this.latest.answer(this.search.result);
    if (request.after === undefined) this.searchedPly(result);
    return result;
  }
}
