// A game in progress: the engine's game, its players, the choice on the board,
// and the computer's turns. Views read the public fields and are notified of
// every change; only methods of this class change them.

import { CourseOfGame } from './course';
import { fitPlayers, PERSON, type Player } from './players';
import { faultOf, ReviewOfGame, type Fault, type GivenAway } from './review';
import { Picker, type PickerEvents } from './selection';
import type {
  Action, Engine, Evaluation, Game, HillIndex, PlayedAction, Position,
  RuleOptions, Search, SearchProgress, SearchRequest, SearchResult,
} from '../engine/api';
import { shortText } from '../engine/short_text';

export type Line = readonly PlayedAction[];

export interface Thinking {
  readonly purpose: 'turn' | 'hint';
  readonly progress: SearchProgress | null;
}

export interface SessionEvents extends PickerEvents {
  // What is kept for the next visit: the game, its players, whether it waits.
  toKeep(): void;
  // The last action was played on the position `before`.
  played(game: Game, before: Position): void;
  // A hill that cannot be acted on now was pointed at, after `chosen`.
  refused(hill: HillIndex, chosen: HillIndex | null): void;
  failed(error: unknown): void;
}

export interface LoadOptions {
  readonly players: readonly Player[]; // as they fit its seats
  readonly paused: boolean; // the computer waits
  readonly counts?: boolean; // as when it was left
  readonly others?: readonly string[]; // texts of its other lines
}

const HINT = { simulations: 800, milliseconds: 3000, temperature: 0 };
const ANALYSIS = { simulations: 8000, milliseconds: 30_000, temperature: 0 };

export class Session extends Picker {
  players: readonly Player[] = [];
  moved: Action | null = null; // shown in motion
  thinking: Thinking | null = null;
  analysis: SearchProgress | null = null; // of the position on the board
  analysing = false; // every position that a person looks at is searched
  // Lines of actions that were left for others, in the order of leaving.
  others: readonly Line[] = [];
  mistake: GivenAway | null = null; // is looked at, on the position before it
  trying: GivenAway | null = null; // a person looks for what was better
  tried: string | null = null; // what came of the last action that was tried
  evaluation: Evaluation | null = null; // of the position on the board
  judgedBy: Evaluation['by'] = 'playouts'; // the last one
  changes = 0; // of the position; answers to an earlier one are dropped
  paused = false; // the computer waits for the button Continue
  // Whether the game counts for the players' ratings: no undo, hints or change
  // of players since its start.
  counts = false;
  readonly course: CourseOfGame;
  readonly review: ReviewOfGame;
  private search: Search | null = null;
  private changing: Promise<Game> | null = null; // what is on its way
  private stops = 0; // of searches; a turn begun before one is not played
  private held = true; // the computer's turns wait for begin()

  constructor(
    private readonly engine: Engine,
    public game: Game,
    protected readonly events: SessionEvents,
    // The least time from one turn to a computer's answer.
    private readonly paceMs: number,
  ) {
    super();
    this.course = new CourseOfGame(engine, () => events.changed());
    this.review = new ReviewOfGame(
      engine,
      () => events.changed(),
      (result) => {
        // An analysis that is shown has the value of its own search.
        if (result.ply !== this.analysis?.ply) this.course.addSearch(result);
      },
    );
  }

  get position(): Position {
    return this.game.position;
  }

  get atEnd(): boolean {
    return this.game.ply === this.game.actions.length;
  }

  isPerson(seat: number): boolean {
    return (this.players[seat] ?? PERSON) === PERSON;
  }

  get personToMove(): boolean {
    const { seat } = this.position;
    const plays = this.trying !== null || (seat !== null && this.isPerson(seat));
    return seat !== null && plays && !this.busy;
  }

  // Whether the computer waits for resume().
  get canResume(): boolean {
    const { seat } = this.position;
    return this.paused && seat !== null && !this.isPerson(seat);
  }

  // `accepted` is called before anything is shown of the new game.
  async newGame(
    variant: string,
    options: RuleOptions,
    players: readonly Player[],
    accepted: () => void,
  ): Promise<void> {
    await this.change(async () => {
      const game = await this.engine.newGame(variant, options);
      accepted();
      return this.accept(game, { players, paused: false, counts: true });
    });
  }

  // The page is ready for the computer's turns: its network, if any, is loaded.
  begin(): void {
    this.held = false;
    this.startTurn();
  }

  private accept(
    game: Game,
    { players, paused, counts = false }: LoadOptions,
    others: readonly Line[] = [],
  ): Game {
    this.players = fitPlayers(players, game.variant);
    this.paused = paused;
    this.counts = counts;
    this.others = others;
    this.course.clear();
    this.review.clear();
    return game;
  }

  // Begins the game of a text. Rejects, and keeps the current game, if the
  // engine rejects it.
  async load(
    text: string,
    options: LoadOptions,
    accepted: () => void,
  ): Promise<void> {
    const load = async (): Promise<Game> => {
      let game = await this.engine.loadGame(text);
      const { others = [] } = options;
      const lines: Line[] = [];
      for (const other of others) {
        const found = await this.engine.loadGame(other).catch(() => null);
        if (found !== null) lines.push(found.actions); // else it is damaged
      }
      if (others.length > 0) game = await this.engine.loadGame(text);
      accepted();
      return this.accept(game, options, lines);
    };
    let game: Game;
    try {
      game = await this.arrival(load);
    } catch (error) {
      this.stopSearch(); // of a turn whose action was dropped meanwhile
      this.goOn();
      throw error;
    }
    this.show(game, null);
  }

  setPlayer(seat: number, player: Player): void {
    this.players = this.players.map((old, i) => (i === seat ? player : old));
    if (this.game.actions.length > 0) this.counts = false;
    // The computer does not play into a game that is looked back on.
    this.paused = !this.atEnd;
    this.stopSearch();
    this.goOn();
  }

  // Somebody helps the person who plays.
  help(): void {
    if (!this.counts || this.position.finished) return;
    this.counts = false;
    this.events.toKeep();
  }

  // The network was loaded or removed: earlier evaluations are stale.
  networkChanged(): void {
    this.stopSearch();
    this.course.clear();
    this.review.clear();
    this.forgetFindings();
    void this.judge();
    this.goOn();
  }

  // In the moment in which an action is played nothing is refused.
  protected refuse(hill: HillIndex, chosen: HillIndex | null): void {
    if (!this.busy && !this.position.finished) {
      this.events.refused(hill, chosen);
    }
  }

  // Plays an action. What followed here stays as a line of its own, if it began
  // otherwise; a line that begins so is gone on with.
  async play(action: Action): Promise<void> {
    if (this.busy) return;
    if (this.trying !== null) {
      await this.try(this.trying, action);
      return;
    }
    const { game, position: before } = this;
    const { actions, ply } = game;
    if (!this.atEnd) this.counts = false;
    if (this.review.state.kind === 'running') this.review.clear();
    this.paused = false;
    const goesOn = (line: Line): boolean =>
      line[ply]?.action.index === action.index;
    const other = this.others.find(
      (line) => goesOn(line) && commonLength(line, actions) === ply,
    );
    const left = this.atEnd || goesOn(actions) ? [] : [actions];
    const played = await this.change(async () => {
      if (goesOn(actions)) return this.engine.goTo(ply + 1);
      if (other !== undefined) return this.loadLine(other, ply + 1);
      const now = await this.engine.play(action.index);
      this.others = [...this.others, ...left];
      return now;
    }, action);
    if (played) this.events.played(this.game, before);
  }

  // Looks at another line of the game, from the place where it leaves this one.
  async goToLine(line: Line, ply?: number): Promise<void> {
    const at = ply ?? commonLength(line, this.game.actions) + 1;
    this.paused = true;
    await this.change(() => this.loadLine(line, at));
  }

  forgetLine(line: Line): void {
    this.others = this.others.filter((each) => each !== line);
    this.events.changed();
    this.events.toKeep();
  }

  // The line on the board becomes one of the others.
  private async loadLine(line: Line, ply: number): Promise<Game> {
    const { game } = this;
    if (this.review.state.kind === 'running') this.review.clear();
    await this.engine.loadGame(shortText({ ...game, actions: line }));
    const now = await this.engine.goTo(ply);
    const isPart = commonLength(game.actions, line) === game.actions.length;
    this.others = [
      ...this.others.filter((each) => each !== line),
      ...(isPart ? [] : [game.actions]),
    ];
    return now;
  }

  async goTo(ply: number): Promise<void> {
    const forward = ply === this.game.ply + 1;
    const moved = forward ? (this.game.actions[ply - 1]?.action ?? null) : null;
    this.paused = true;
    await this.change(() => this.engine.goTo(ply), moved);
  }

  // Returns the faults that the review has found on the line on the board, of
  // the side that is looked at, by the ply after them.
  faults(): ReadonlyMap<number, Fault> {
    const { state, game, side } = this.review;
    if (state.kind !== 'done' || game === null) return new Map();
    const same = commonLength(game.actions, this.game.actions);
    return new Map(state.found
      .filter(({ ply, played }) =>
        ply < same && (side ?? played.side) === played.side)
      .map(({ ply, lost }) => [ply + 1, faultOf(lost)!]));
  }

  // Goes to the position before a mistake of the review, and shows it there.
  async goToMistake(found: GivenAway): Promise<void> {
    const { game, state } = this.review;
    if (game === null) return;
    const same = commonLength(game.actions, this.game.actions);
    if (same > found.ply) await this.goTo(found.ply);
    else await this.goToLine(this.lineOf(game.actions), found.ply);
    const isKnown = state.kind === 'done' && state.found.includes(found);
    if (!isKnown || this.game.ply !== found.ply) return;
    this.mistake = found;
    this.events.changed();
  }

  // Of the position on the board.
  private forgetFindings(): void {
    this.analysis = this.evaluation = null;
    this.mistake = this.trying = this.tried = null;
  }

  // The person is to find what was better than the mistake on the board.
  tryAgain(): void {
    if (this.mistake === null) return;
    this.trying = this.mistake;
    this.mistake = null;
    const name = this.trying.played.action.notation;
    this.tried = `Find a better action than ${name}.`;
    this.events.changed();
  }

  // Compares an action with the best one, as the review does; the game stays.
  private async try(mistake: GivenAway, action: Action): Promise<void> {
    const { changes } = this;
    const { notation } = action;
    const { better } = mistake;
    this.tried = `${notation}: searching …`;
    this.events.changed();
    const lost = await this.review.lostBy(mistake, action);
    if (changes !== this.changes || this.trying !== mistake) return;
    if (faultOf(lost) === null) {
      this.trying = null;
      this.mistake = mistake;
      this.tried = action.index === better.index
        ? `Right: ${notation} is the best action.`
        : `Right: ${notation} is as good as ${better.notation}.`;
    } else {
      const percent = Math.round(100 * lost);
      this.tried = `${notation} costs ${percent} % of winning. Try another one.`;
    }
    this.events.changed();
  }

  // The line that has these actions, at least.
  private lineOf(actions: Line): Line {
    const { length } = actions;
    return this.others.find((line) => commonLength(line, actions) === length) ??
      actions;
  }

  // The ply to which undo (-1) or redo (1) goes: the next one with a person to
  // move, or else the next one. Null: none.
  plyOfStep(step: -1 | 1): number | null {
    const { actions, ply } = this.game;
    const last = actions.length;
    for (let at = ply + step; at >= 0 && at <= last; at += step) {
      const seat = at === last ? null : actions[at]!.seat;
      if (seat === null || this.isPerson(seat)) return at;
    }
    const next = ply + step;
    return next >= 0 && next <= last ? next : null;
  }

  async step(step: -1 | 1): Promise<void> {
    const ply = this.plyOfStep(step);
    if (ply !== null && !this.busy) await this.goTo(ply);
  }

  pause(): void {
    this.paused = true;
    this.stopSearch();
    this.goOn();
  }

  resume(): void {
    this.paused = false;
    this.goOn();
  }

  // Shows what has changed; whoever is to act goes on.
  private goOn(): void {
    this.events.changed();
    this.events.toKeep();
    this.startTurn();
    this.startAnalysis();
  }

  // Reviews the game; or stops, if a review is under way.
  async reviewOrStop(): Promise<void> {
    const running = this.review.state.kind === 'running';
    this.review.clear();
    this.events.changed();
    if (running) return;
    try {
      await this.review.run(this.game);
    } catch (error) {
      this.events.failed(error);
    }
  }

  // Searches for a person: the best actions are shown, none is played.
  async showHint(): Promise<void> {
    if (!this.personToMove || this.thinking !== null) return;
    this.help();
    await this.analyse(HINT);
  }

  // Searches every position that a person looks at, until it is called again.
  toggleAnalysis(): void {
    this.analysing = !this.analysing;
    if (this.analysing) this.help();
    if (this.thinking?.purpose === 'hint') this.stopSearch();
    this.events.changed();
    this.startAnalysis();
  }

  private startAnalysis(): void {
    const { position: { seat }, thinking } = this;
    if (!this.analysing || seat === null || thinking !== null) return;
    if (this.busy || !(this.isPerson(seat) || this.paused)) return;
    this.help();
    void this.analyse(ANALYSIS);
  }

  private async analyse(request: SearchRequest): Promise<void> {
    const result = await this.run('hint', request);
    if (result !== null) this.showAnalysis(withChoiceFirst(result));
  }

  private showAnalysis(found: SearchProgress): void {
    this.analysis = found;
    this.course.addSearch(found);
    this.events.changed();
  }

  private get busy(): boolean {
    return this.changing !== null;
  }

  // Waits for what is on its way to change the game.
  async settled(): Promise<void> {
    await this.changing?.catch(() => undefined);
  }

  // Changes the game by a call to the engine. Returns whether it did.
  private async change(
    call: () => Promise<Game>,
    moved: Action | null = null,
  ): Promise<boolean> {
    try {
      this.show(await this.arrival(call), moved);
      return true;
    } catch (error) {
      this.events.failed(error);
      return false;
    }
  }

  // Waits for the game of a call to the engine; nobody acts meanwhile.
  private async arrival(call: () => Promise<Game>): Promise<Game> {
    this.stopSearch();
    this.course.interrupt();
    const change = call();
    this.changing = change;
    try {
      return await change;
    } catch (error) {
      void this.course.complete(this.game);
      throw error;
    } finally {
      if (this.changing === change) this.changing = null;
    }
  }

  private show(game: Game, moved: Action | null): void {
    this.stopSearch();
    ++this.changes;
    this.game = game;
    this.course.follow(game);
    this.moved = moved;
    this.chosen = null;
    this.forgetFindings();
    void this.judge();
    this.goOn();
    this.moved = null;
  }

  private async judge(): Promise<void> {
    const { changes } = this;
    if (this.position.finished) {
      this.course.finish(this.game.ply, this.position.score);
    } else {
      try {
        const evaluation = await this.engine.evaluate(this.game.ply);
        if (changes !== this.changes) return;
        this.evaluation = evaluation;
        this.judgedBy = evaluation.by;
        this.course.add(evaluation);
      } catch (error) {
        if (changes === this.changes) this.events.failed(error);
        return;
      }
    }
    void this.course.complete(this.game);
    this.events.changed();
  }

  // Plays the computer's turn, if it is one.
  private startTurn(): void {
    const { seat } = this.position;
    if (this.held || this.paused) return;
    if (seat === null || this.isPerson(seat)) return;
    void this.takeTurn(this.players[seat]!);
  }

  private async takeTurn(level: string): Promise<void> {
    const { stops } = this;
    const pace = new Promise((resolve) => setTimeout(resolve, this.paceMs));
    const result = await this.run('turn', { level });
    await pace;
    if (result === null || stops !== this.stops) return;
    if (result.by !== 'network') this.counts = false;
    await this.play(result.action);
  }

  // Runs a search of the position on the board. Returns null if it was
  // stopped, or the position is another by now.
  private async run(
    purpose: 'turn' | 'hint',
    request: SearchRequest,
  ): Promise<SearchResult | null> {
    const { changes } = this;
    const progressed = (progress: SearchProgress): void => {
      if (changes !== this.changes || this.search !== search) return;
      this.thinking = { purpose, progress };
      if (purpose === 'hint') this.showAnalysis(progress);
      else this.events.changed();
    };
    const search = this.engine.search(request, progressed);
    this.search = search;
    this.thinking = { purpose, progress: null };
    this.events.changed();
    try {
      const result = await search.result;
      return this.search === search ? result : null;
    } catch (error) {
      if (this.search === search) {
        this.paused = true;
        this.events.failed(error);
      }
      return null;
    } finally {
      if (this.search === search) this.endSearch();
    }
  }

  private stopSearch(): void {
    ++this.stops;
    this.search?.stop();
    this.endSearch();
  }

  private endSearch(): void {
    this.search = null;
    this.thinking = null;
  }
}

// Returns how many actions two lines have in common.
export function commonLength(one: Line, other: Line): number {
  const differs = one.findIndex(
    ({ action }, ply) => action.index !== other[ply]?.action.index,
  );
  return differs === -1 ? one.length : differs;
}

// Returns a search with the action that it advises before the others.
function withChoiceFirst(result: SearchResult): SearchProgress {
  const isBest = ({ action }: { action: Action }): boolean =>
    action.index === result.action.index;
  const others = result.actions.filter((each) => !isBest(each));
  return { ...result, actions: [...result.actions.filter(isBest), ...others] };
}
