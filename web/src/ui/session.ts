// A game under way: the engine's game, who plays it, what is chosen on the
// board, and the computer's turns. Views read the public fields and are told
// of every change; only methods of this class change them.

import { CourseOfGame } from './course';
import { playerId, type Player } from './players';
import { ReviewOfGame, type GivenAway } from './review';
import { choose, type Choice } from './selection';
import type {
  Action,
  Engine,
  Evaluation,
  Game,
  HillIndex,
  Position,
  RuleOptions,
  Search,
  SearchProgress,
  SearchResult,
} from '../engine/api';

export interface Thinking {
  readonly purpose: 'turn' | 'hint';
  readonly progress: SearchProgress | null;
}

export interface SessionEvents {
  changed(): void; // something that is to be drawn
  // What is kept for the next visit: the game, its players, whether it waits.
  toKeep(): void;
  // The last action was played on the position `before`.
  played(game: Game, before: Position): void;
  // Actions of which a person is to choose one.
  asked(actions: readonly Action[]): void;
  // A hill that cannot be acted on now was pointed at, after `chosen`.
  refused(hill: HillIndex, chosen: HillIndex | null): void;
  failed(error: unknown): void;
}

const HINT_SIMULATIONS = 800;
const HINT_MS = 3000;

export class Session {
  players: readonly Player[] = [];
  chosen: HillIndex | null = null;
  moved: Action | null = null; // is to be shown in motion
  thinking: Thinking | null = null;
  hint: SearchResult | null = null;
  mistake: GivenAway | null = null; // is looked at, on the position before it
  evaluation: Evaluation | null = null; // of the position on the board
  judgedBy: Evaluation['by'] = 'playouts'; // the last one
  changes = 0; // of the position; answers to an earlier one are dropped
  paused = false; // the computer waits for the button to go on
  // Whether the game so far tells of the strength of those who play it: from
  // the start on without taking back, hints or a change of players.
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
    private readonly events: SessionEvents,
    // The least time from one turn to a computer's answer.
    private readonly paceMs: number,
  ) {
    this.course = new CourseOfGame(engine, () => this.courseChanged());
    this.review = new ReviewOfGame(
      engine,
      () => events.changed(),
      (result) => {
        // A hint that is shown says what its own search found.
        if (result.ply !== this.hint?.ply) this.course.addSearch(result);
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
    return this.players[seat]?.kind !== 'computer';
  }

  // Whether a person may act on the board now.
  get personToMove(): boolean {
    const { seat } = this.position;
    return seat !== null && this.isPerson(seat) && !this.busy;
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
      this.players = players;
      this.paused = false;
      this.counts = true;
      this.course.clear();
      this.review.clear();
      return game;
    });
  }

  // The page is ready for the computer's turns: whatever network there is has
  // been loaded.
  begin(): void {
    this.held = false;
    this.startTurn();
  }

  // Begins the game of a text, with the computer waiting if `paused`; `counts`
  // if it did when it was left. Rejects, and goes on with the game there is, if
  // the engine refuses it.
  async load(
    text: string,
    fit: (game: Game) => readonly Player[],
    paused: boolean,
    counts: boolean,
    accepted: () => void,
  ): Promise<void> {
    const load = async (): Promise<Game> => {
      const game = await this.engine.loadGame(text);
      accepted();
      this.players = fit(game);
      this.paused = paused;
      this.counts = counts;
      this.course.clear();
      this.review.clear();
      return game;
    };
    let game: Game;
    try {
      game = await this.arrival(load);
    } catch (error) {
      this.stopSearch(); // of a turn whose action was dropped meanwhile
      this.events.changed();
      this.startTurn();
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
    this.events.changed();
    this.events.toKeep();
    this.startTurn();
  }

  // Somebody helps the person who plays.
  help(): void {
    if (!this.counts || this.position.finished) return;
    this.counts = false;
    this.events.toKeep();
  }

  // The network was loaded or taken away: what was thought before is stale.
  networkChanged(): void {
    this.stopSearch();
    this.course.clear();
    this.review.clear();
    this.hint = null;
    this.mistake = null;
    this.evaluation = null;
    this.events.changed();
    void this.judge();
    this.startTurn();
  }

  pointAt(hill: HillIndex): void {
    if (!this.personToMove) this.refuse(hill);
    else this.take(choose(this.position, this.chosen, hill), this.chosen);
  }

  // A king or a link was dragged.
  drag(from: HillIndex, to: HillIndex): void {
    if (!this.personToMove) return;
    const choice = choose(this.position, from, to);
    this.take(
      choice.kind === 'choose' ? { kind: 'refuse', hill: to } : choice,
      from,
    );
  }

  // In the moment in which an action is played nothing is refused.
  private refuse(hill: HillIndex, chosen: HillIndex | null = null): void {
    if (!this.busy && !this.position.finished) {
      this.events.refused(hill, chosen);
    }
  }

  forget(): void {
    this.chosen = null;
    this.events.changed();
  }

  private take(choice: Choice, chosen: HillIndex | null): void {
    switch (choice.kind) {
      case 'play':
        void this.play(choice.action);
        break;
      case 'ask':
        this.events.asked(choice.actions);
        break;
      case 'choose':
        this.chosen = choice.hill;
        this.events.changed();
        break;
      case 'refuse':
        this.chosen = null;
        this.events.changed();
        this.refuse(choice.hill, chosen);
        break;
    }
  }

  async play(action: Action): Promise<void> {
    if (this.busy) return;
    const before = this.position;
    if (!this.atEnd) this.counts = false;
    this.course.cutAfter(this.game.ply);
    this.review.clear();
    this.paused = false;
    const played = await this.change(
      () => this.engine.play(action.index),
      action,
    );
    if (played) this.events.played(this.game, before);
  }

  async goTo(ply: number): Promise<void> {
    const forward = ply === this.game.ply + 1;
    const moved = forward ? (this.game.actions[ply - 1]?.action ?? null) : null;
    this.paused = true;
    await this.change(() => this.engine.goTo(ply), moved);
  }

  // Goes to the position before a mistake of the review, and shows it there.
  async goToMistake(found: GivenAway): Promise<void> {
    await this.goTo(found.ply);
    const { state } = this.review;
    const isKnown = state.kind === 'done' && state.found.includes(found);
    if (!isKnown || this.game.ply !== found.ply) return;
    this.mistake = found;
    this.events.changed();
  }

  // The ply to which undo (-1) or redo (1) goes: the next one at which a
  // person is to move, or if there is none, the next one. Null: there is none.
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
    this.events.changed();
    this.events.toKeep();
  }

  resume(): void {
    this.paused = false;
    this.events.changed();
    this.events.toKeep();
    this.startTurn();
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

  // Searches for a person: the best action is shown, not played.
  async showHint(): Promise<void> {
    if (!this.personToMove || this.thinking !== null) return;
    this.help();
    const result = await this.run('hint', {
      simulations: HINT_SIMULATIONS,
      milliseconds: HINT_MS,
      temperature: 0,
    });
    if (result === null) return;
    this.hint = result;
    this.course.addSearch(result);
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
    let game: Game;
    try {
      game = await this.arrival(call);
    } catch (error) {
      this.events.failed(error);
      return false;
    }
    this.show(game, moved);
    return true;
  }

  // Waits for the game of a call to the engine; nobody acts meanwhile.
  private async arrival(call: () => Promise<Game>): Promise<Game> {
    this.stopSearch();
    const change = call();
    this.changing = change;
    try {
      return await change;
    } finally {
      if (this.changing === change) this.changing = null;
    }
  }

  private show(game: Game, moved: Action | null): void {
    this.stopSearch();
    ++this.changes;
    this.game = game;
    this.moved = moved;
    this.chosen = null;
    this.hint = null;
    this.mistake = null;
    this.evaluation = null;
    this.events.changed();
    this.events.toKeep();
    this.moved = null;
    void this.judge();
    this.startTurn();
  }

  private courseChanged(): void {
    this.events.changed();
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
    this.course.complete(this.game);
    this.events.changed();
  }

  // Plays the computer's turn, if it is one.
  private startTurn(): void {
    const { seat } = this.position;
    const player = seat === null ? undefined : this.players[seat];
    if (this.held || this.paused || player?.kind !== 'computer') return;
    void this.takeTurn(playerId(player));
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
    request: Parameters<Engine['search']>[0],
  ): Promise<SearchResult | null> {
    const { changes } = this;
    const progressed = (progress: SearchProgress): void => {
      if (changes !== this.changes || this.search !== search) return;
      this.thinking = { purpose, progress };
      this.events.changed();
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
