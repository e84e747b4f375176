// The page: joins the session with the board, the panels and the dialogs.

import { AnalysisPanel, bestActions } from './analysis_panel';
import { Board } from './board/board';
import type { Placed } from './board/drawing';
import type { Marks } from './board/marks';
import { SIDE_CLASS } from './board/pieces';
import { Book } from './book';
import { ChoiceDialog } from './choice_dialog';
import { CoursePanel } from './course_panel';
import { byId } from './dom';
import { Editor } from './editor';
import type { Exercise } from './exercise';
import { GameFileDialog } from './game_file_dialog';
import { Guide } from './guide';
import { HelpDialog } from './help_dialog';
import { KeptGames, type KeptGame } from './kept_games';
import { listenToKeys } from './keys';
import { Lesson } from './lesson';
import { decode, linkTo, textOfPasted } from './links';
import { MovesPanel } from './moves_panel';
import { acceptDrops, NetworkPanel } from './network_panel';
import { NewGameDialog, type NewGame } from './new_game_dialog';
import { Notices } from './notices';
import { OpeningsPanel } from './openings_panel';
import { defaultPlayers, knownPlayer, PERSON, type Player } from './players';
import { turnTheme } from './preferences';
import { PuzzleOfTheDay } from './puzzle';
import { Results } from './results';
import { ResultsDialog } from './results_dialog';
import type { GivenAway } from './review';
import { ReviewPanel } from './review_panel';
import { countedHills, type CountedHills, type ShownCount } from './score';
import { SeatsPanel } from './seats_panel';
import { uses } from './selection';
import { Session, type Line } from './session';
import { Toolbar } from './toolbar';
import { TurnBar } from './turn_bar';
import {
  actionSentence, aimInWords, countSentence, hillLabel, howItEnded,
  placeSentence, plural, resultSentence, rulesInWords, seatName,
  standingSentence, verificationSentence,
} from './words';
import { messageOf } from '../error';
import { shortText } from '../engine/short_text';
import type {
  Action, Engine, Family, Game, HillIndex, NetworkInfo, Position,
} from '../engine/api';

const NO_MARKS: Marks = {
  uses: new Map(),
  links: [],
  chosen: null,
  last: null,
  hints: [],
  mistake: null,
  heat: null,
  owners: null,
  area: null,
  besieged: [],
  counted: [],
  mover: 'none',
};
const PACE_MS = 500;
const ZIP_SIGNATURE = [0x50, 0x4b]; // "PK", as every bundle begins
const MAX_TEXT_BYTES = 50_000_000; // of a file with games or a book
// Buttons that act on the position on the board, which is another one by the
// second press of a double click.
const ONCE = '[data-do="pass"], .line, #choice, .exercise-tools';

// The parts read its fields and call its methods.
export class App {
  readonly session: Session;
  readonly board: Board;
  readonly notices = new Notices();
  readonly games = new KeptGames();
  readonly results: Results;
  readonly editor: Editor;
  readonly lesson: Lesson;
  readonly puzzle: PuzzleOfTheDay;
  // What buttons and keys do.
  readonly actions = {
    undo: () => void this.step(-1),
    redo: () => void this.step(1),
    hint: () => void this.session.showHint(),
    heat: () => this.toggle('heat'),
    owners: () => this.toggle('owners'),
    pass: () => this.pass(),
    pauseOrResume: () => this.pauseOrResume(),
    analyse: () => this.session.toggleAnalysis(),
    back: () => this.walk(-1),
    forward: () => this.walk(1),
    start: () => void this.goTo(0),
    end: () => void this.goTo(this.session.game.actions.length),
    newGame: () => this.newGameDialog.open(),
    help: () => this.help.open(),
  };
  readonly paceMs: number; // from one turn to a computer's answer, at least
  network: NetworkInfo | null = null;
  loading: string | null = null; // the name of a bundle
  private readonly turnBar = new TurnBar(this);
  private readonly toolbar = new Toolbar(this);
  private readonly course = new CoursePanel(this);
  private readonly moves = new MovesPanel(this);
  private readonly analysis = new AnalysisPanel(this);
  private readonly review = new ReviewPanel(this);
  private readonly openings = new OpeningsPanel(this);
  private readonly networkPanel = new NetworkPanel(this);
  private readonly seats = new SeatsPanel(this);
  private readonly guide = new Guide(this);
  private readonly choiceDialog = new ChoiceDialog(this);
  private readonly fileDialog = new GameFileDialog(this);
  readonly resultsDialog = new ResultsDialog(this);
  private readonly help = new HelpDialog(this);
  private readonly newGameDialog: NewGameDialog;
  private opening: Promise<boolean> | null = null; // of a bundle by the user
  private hasRemoved = false; // the user, a network
  heat = false; // what maps are over the board
  owners = false;
  private drawing = false; // a frame is due
  private walked = Promise.resolve(); // the steps of keys so far
  private shownPosition: Placed | null = null; // on the board
  private resumeLater = false; // the computer's turns, after a part
  private moved: Action | null = null; // shown in motion
  private toldOfFullStorage = false;

  constructor(readonly engine: Engine, game: Game) {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.paceMs = calm ? 0 : PACE_MS;
    this.results = new Results(engine);
    this.session = new Session(engine, game, this, this.paceMs);
    this.board = new Board(engine.info.geometry, () => this.onBoard);
    this.newGameDialog = new NewGameDialog(this);
    this.editor = new Editor(this);
    this.lesson = new Lesson(this);
    this.puzzle = new PuzzleOfTheDay(this);
    this.place();
  }

  // Puts the parts into the page, and listens to it.
  private place(): void {
    const { editor, lesson, puzzle } = this;
    const places: Readonly<Record<string, readonly Element[]>> = {
      board: [this.board.element],
      turn: [this.turnBar.element, editor.bar, lesson.bar, puzzle.bar],
      tools: [this.toolbar.element, editor.palette, lesson.tools, puzzle.tools],
      legend: [this.toolbar.legends],
      guide: [
        lesson.card, puzzle.card, this.analysis.element, this.openings.element,
        this.guide.element,
      ],
      side: [
        editor.panel, this.seats.element, this.course.element,
        this.moves.element, this.review.element, this.networkPanel.element,
      ],
    };
    for (const [name, parts] of Object.entries(places)) {
      byId(`${name}-place`).append(...parts);
    }
    const buttons = {
      skip: () => this.board.focus(),
      'new-game': this.actions.newGame,
      file: () => void this.fileDialog.open(),
      'set-up': () => void this.open(editor),
      help: this.actions.help,
      theme: turnTheme,
    };
    for (const [name, action] of Object.entries(buttons)) {
      byId(`${name}-button`).addEventListener('click', action);
    }
    acceptDrops((file) => void this.loadFile(file));
    addEventListener('click', (event) => {
      const isSecond = event.detail > 1;
      if (isSecond && (event.target as Element).closest(ONCE)) event.stopPropagation();
    }, { capture: true });
    addEventListener('hashchange', () => void this.openLink());
    listenToKeys(this.actions, () => this.part === undefined);
  }

  // Begins with the game of the address, if it has one, else with the game that
  // was left, else with a new one.
  async start(): Promise<void> {
    const { info } = this.engine;
    await this.openings.restore();
    if (await this.openLink()) return;
    const kept = this.games.latest();
    try {
      if (kept !== null) return await this.goBackTo(kept);
    } catch (error) {
      this.notices.show(
        `The game of your last visit cannot be read (${messageOf(error)}). ` +
          'It is still under Save / load.',
        true,
      );
    }
    const variant = info.variants[0]!;
    const players = defaultPlayers(variant, info.levels);
    await this.session.newGame(variant.id, {}, players, () =>
      this.games.begin());
  }

  // Opens the game or position of the address, if it has one, in addition to
  // the kept games; the address is then reset, so that a reload continues the
  // game. Returns whether there is a game now.
  private async openLink(): Promise<boolean> {
    const { hash, pathname, search } = location;
    if (hash.length <= 1) return false;
    history.replaceState(history.state, '', pathname + search);
    try {
      if (this.games.onlyInTab) {
        throw new Error(
          'this browser cannot keep more games, and the game in this tab ' +
          'would be lost: save it to a file or remove other games under Save ' +
          '/ load',
        );
      }
      const text = decode(hash.slice(1));
      const same = this.games.list().find((kept) => kept.text === text);
      if (same !== undefined) {
        await this.goBackTo(same);
      } else {
        await this.load(text, []); // for people, who look at it
        const sentence = this.loadedSentence();
        this.notices.show(`${sentence} Your other games are unchanged.`);
      }
      return true;
    } catch (error) {
      this.notices.show(
        `The link cannot be opened: ${messageOf(error)}. Your games are kept ` +
          'as they were.',
        true,
      );
      return false;
    }
  }

  // Loads the game of a text and keeps the other games; seats keep the players.
  private load(
    text: string,
    players: readonly Player[],
    paused = true,
  ): Promise<void> {
    return this.session.load(text, { players, paused }, () =>
      this.games.begin());
  }

  private loadedSentence(): string {
    const { game } = this.session;
    const what = game.actions.length === 0 ? 'position' : 'game';
    return `A ${what} of ${game.variant.name} is loaded.`;
  }

  async newGame(choice: NewGame): Promise<void> {
    const { game } = this.session;
    const { variant, options, players } = choice;
    await this.session.newGame(variant.id, options, players, () => {
      this.games.begin();
      const isOver = game.actions.length === 0 || game.position.finished;
      if (isOver || this.toldOfFullStorage) return;
      const { name } = game.variant;
      this.notices.show(`Your game of ${name} is kept under Save / load.`);
    });
    if (this.isHelped) this.session.help();
  }

  // Goes on with a kept game as it was left. Rejects if it cannot be read.
  async goBackTo(kept: KeptGame): Promise<void> {
    const { levels } = this.engine.info;
    const players = kept.players.map((id) => knownPlayer(id, levels));
    const { text, paused, counts, others } = kept;
    await this.session.load(text, { players, paused, counts, others }, () =>
      this.games.take(kept));
    if (this.isHelped) this.session.help();
  }

  // Keeps the game for the next visit.
  toKeep(): void {
    const { session } = this;
    const { game, players, paused, counts, position } = session;
    const kept = this.games.keep({
      text: shortText(game),
      players,
      paused,
      counts,
      result: position.finished ? resultSentence(position.score) : '',
      others: session.others.map((actions) => shortText({ ...game, actions })),
    });
    if (kept || this.toldOfFullStorage) return;
    this.toldOfFullStorage = true;
    this.notices.show(
      'This browser cannot keep more games: its storage is full or blocked. ' +
      'Save this game to a file or remove other games under Save / load.',
      true,
    );
  }

  // Loads the network that the page is served with, unless by the time that it
  // has come the user has opened another one, or removed that again.
  async loadOwnNetwork(bundle: Blob, name: string): Promise<void> {
    await this.opening;
    if (this.network !== null || this.hasRemoved) return;
    await this.loadNetwork(bundle, name);
  }

  // Returns whether the bundle was accepted; if not, shows the reason.
  private async loadNetwork(bundle: Blob, name: string): Promise<boolean> {
    this.loading = name;
    this.changed();
    try {
      this.network = await this.engine.loadNetwork(bundle, name);
      this.session.networkChanged();
      return true;
    } catch (error) {
      const { network } = this;
      const stays = network === null ? '' : ` Still playing with ${network.name}.`;
      this.notices.show(
        `${name} was not loaded: ${messageOf(error)}.${stays}`, true);
      return false;
    } finally {
      this.loading = null;
      this.changed();
    }
  }

  async unloadNetwork(): Promise<void> {
    this.hasRemoved = true;
    this.session.help();
    await this.engine.unloadNetwork();
    this.network = null;
    this.session.networkChanged();
  }

  async verifyNetwork(): Promise<void> {
    const found = await this.engine.verifyNetwork();
    this.notices.show(verificationSentence(found), !found.agrees);
  }

  // Loads a dropped or opened file: a bundle, or a game as text, with any name.
  async loadFile(file: File): Promise<void> {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const isZip = ZIP_SIGNATURE.every((byte, i) => head[i] === byte);
    const text = isZip || file.size > MAX_TEXT_BYTES ? '' : await file.text();
    // Damaged bundles are called so, and refused as such.
    const isBundle = /\.(tara|zip)$/i.test(file.name) && !this.isGame(text);
    if (isZip || isBundle) {
      this.session.help();
      this.opening = this.loadNetwork(file, file.name);
      if (await this.opening) {
        this.notices.show(`${file.name} is loaded.`);
      }
      return;
    }
    try {
      await this.loadGame(text);
    } catch (error) {
      const isText = this.isGame(text) || /\.(jsonl?|txt|html)$/i.test(file.name);
      const why = isText
        ? `: ${messageOf(error)}`
        : ' is neither a model bundle nor a game as text.';
      this.notices.show(file.name + why, true);
    }
  }

  // Whether a text begins like one of a game.
  private isGame(text: string): boolean {
    const [first = ''] = text.trimStart().split(/\s/, 1);
    return (
      first.startsWith('{') ||
      this.engine.info.variants.some(({ id }) => id === first)
    );
  }

  async loadGame(text: string): Promise<void> {
    const book = Book.read(text);
    if (book !== null) return this.openBook(book);
    // It may be one to look at.
    await this.load(textOfPasted(text), this.session.players);
    const { name } = this.session.game.variant;
    const count = text.match(/^\s*\{.*\}\s*$/gm)?.length ?? 0; // lines of JSON
    this.notices.show(count > 1
      ? `A game of ${name} is loaded. Only the first of ${count} games was ` +
        'loaded.'
      : this.loadedSentence());
  }

  private openBook(book: Book): void {
    this.openings.add(book);
    if (this.isHelped) this.session.help();
    const { name } =
      this.engine.info.variants.find(({ id }) => id === book.variant)!;
    this.notices.show(
      `The openings of ${name} are next to the board, in games with the ` +
        `rules of the book: ${plural(book.positions, 'position')}.`);
  }

  playNamed(notation: string): void {
    const { session } = this;
    const action = session.position.legal.find(
      (each) => each.notation === notation);
    if (action === undefined) return;
    void session.play(action);
    this.board.focus();
  }

  // What may take the place of the game.
  private get parts(): readonly (Editor | Lesson | PuzzleOfTheDay)[] {
    return [this.editor, this.lesson, this.puzzle];
  }

  // The open one.
  private get part(): Editor | Lesson | PuzzleOfTheDay | undefined {
    return this.parts.find(({ isOpen }) => isOpen);
  }

  // The one that has a game of its own.
  private get exercise(): Lesson | PuzzleOfTheDay | undefined {
    const { part } = this;
    return part instanceof Editor ? undefined : part;
  }

  // Begins with the position or the variant on the board.
  async open(part: Editor | Exercise): Promise<void> {
    const { session } = this;
    // With the action or the game that is on its way; its computer waits.
    await session.settled();
    if (!part.isOpen) {
      for (const each of this.parts) each.close();
      if (session.analysing) session.toggleAnalysis();
      this.resumeLater ||= !session.paused;
      session.pause();
      try {
        await part.open(session.game, session.changes);
        byId('turn-place').scrollIntoView({ block: 'nearest' });
      } catch (error) {
        this.notices.showError(error);
        this.leave();
      }
    }
    this.board.focus();
    this.changed();
  }

  // Goes back to the game; the computer continues as before.
  leave(): void {
    const { part } = this;
    part?.close();
    if (this.resumeLater) this.session.resume();
    this.resumeLater = false;
    (part === this.editor ? byId('set-up-button') : this.board).focus();
    this.changed();
  }

  // Begins a game of the family's first variant against the weakest computer.
  async playAfterLesson(family: Family): Promise<void> {
    const { variants, levels } = this.engine.info;
    const variant = [this.session.game.variant, ...variants].find(
      (each) => each.family === family)!;
    const players = variant.seats.map(({ side }) =>
      side === 0 ? PERSON : levels[0]!.id);
    await this.newGame({ variant, options: {}, players });
    this.board.focus();
  }

  // Where clicks on the board go.
  get onBoard(): Session | Editor | Lesson | PuzzleOfTheDay {
    return this.part ?? this.session;
  }

  // On a phone the board is out of sight, and then the note on the card is.
  explainCount(shown: ShownCount): void {
    const sentence = countSentence(this.session.game, shown);
    const { bottom } = this.board.element.getBoundingClientRect();
    if (bottom > innerHeight / 2) {
      this.notices.announce(sentence);
      return;
    }
    byId('turn-place').scrollIntoView({ block: 'nearest' });
    this.notices.show(sentence);
  }

  // Begins a game from a position that was set up.
  async playPosition(
    text: string,
    players: readonly Player[],
    paused: boolean,
  ): Promise<void> {
    try {
      await this.load(text, players, paused);
      this.board.focus();
    } catch (error) {
      this.notices.showError(error);
    }
  }

  async copyLink(text: string): Promise<void> {
    const link = linkTo(text);
    try {
      await navigator.clipboard.writeText(link);
      this.notices.show('The link is copied.');
    } catch {
      this.notices.show(`Your browser did not allow copying. The link: ${link}`);
    }
  }

  failed(error: unknown): void {
    this.notices.showError(error);
  }

  // Asks which of several actions is meant.
  asked(actions: readonly Action[]): void {
    this.choiceDialog.ask(actions);
  }

  // Whether the levels' Elo is known of the network there is.
  get isRated(): boolean {
    return this.network?.rated ?? false;
  }

  // Whether the page shows more than the rules say.
  private get isHelped(): boolean {
    const { heat, owners, openings, session } = this;
    return heat || owners || openings.bookOf(session.game) !== undefined;
  }

  private toggle(map: 'heat' | 'owners'): void {
    if (this.session.position.finished) return;
    this[map] = !this[map];
    if (this[map]) this.session.help();
    this.changed();
  }

  // Waits for another place in the game, and says which it is.
  private async arrive(going: Promise<void>): Promise<void> {
    await going;
    this.notices.announce(placeSentence(this.session.game));
  }

  private step(step: -1 | 1): Promise<void> {
    return this.arrive(this.session.step(step));
  }

  goToLine(line: Line): Promise<void> {
    return this.arrive(this.session.goToLine(line));
  }

  goTo(ply: number): Promise<void> {
    return this.arrive(this.session.goTo(ply));
  }

  // A step of one action along the line on the board, after the pending ones:
  // keys are pressed faster than positions arrive.
  private walk(step: -1 | 1): void {
    this.walked = this.walked.then(async () => {
      const { ply, actions } = this.session.game;
      const to = ply + step;
      if (to >= 0 && to <= actions.length) await this.goTo(to);
    });
  }

  private pass(): void {
    const pass = this.passAction();
    if (pass !== undefined) void this.session.play(pass);
  }

  passAction(): Action | undefined {
    const { personToMove, position } = this.session;
    return position.legal.find(
      ({ kind }) => personToMove && (kind === 'pass' || kind === 'swap'));
  }

  private pauseOrResume(): void {
    if (this.session.canResume) this.session.resume();
    else this.session.pause();
  }

  // Shows a mistake on the board, which on a phone is far above the list.
  async showGivenAway(found: GivenAway): Promise<void> {
    await this.session.goToMistake(found);
    byId('turn-place').scrollIntoView({ block: 'nearest' });
  }

  tryAgain(): void {
    this.session.tryAgain();
    this.board.focus();
  }

  // Reviews the game, unless that has been done.
  showReview(): void {
    const { session } = this;
    if (session.review.state.kind === 'none') void session.reviewOrStop();
    this.review.show();
  }

  // Says at the hill why it cannot be acted on.
  refused(hill: HillIndex, chosen: HillIndex | null): void {
    const { session } = this;
    if (session.personToMove) {
      void this.tellReason(hill, chosen);
      return;
    }
    const who = seatName(session.game.variant, session.position.seat!);
    const how = session.canResume ? ': press Continue.' : '.';
    this.board.tell(hill, `It is ${who}’s turn, the computer’s${how}`);
  }

  async tellReason(hill: HillIndex, chosen: HillIndex | null): Promise<void> {
    const { position } = this.shownGame;
    const { name } = this.engine.info.geometry.hills[hill]!;
    const reason = await this.engine.whyNot(position.text, hill, chosen);
    if (position !== this.shownGame.position) return;
    const sentence = reason ?? `${name} is not legal now.`;
    this.board.tell(hill, sentence.replaceAll("'", '’'));
  }

  // The game on the board: that of the session, or of an exercise.
  private get shownGame(): Game {
    return this.exercise?.game ?? this.session.game;
  }

  // Says what was played on the position `before`.
  played(game: Game, before: Position): void {
    const { position } = game;
    const played = game.actions[game.ply - 1]!;
    let sentence = `${actionSentence(game, played, before)}.`;
    if (before.phase === 'manoeuvres' && position.phase === 'battle') {
      sentence += ' Battle begins.';
    }
    if (position.finished) {
      const result = resultSentence(position.score);
      sentence += ` ${[result, ...howItEnded(game)].join('. ')}.`;
      void this.keepResult(game);
    } else {
      sentence += ` ${seatName(game.variant, position.seat!)} to move.`;
    }
    this.notices.announce(sentence);
  }

  // Keeps the result of a finished game that tells of a person's strength, and
  // says what strength that is by now: a person, or two as partners, against a
  // level of known Elo, by the usual rules.
  private async keepResult({ variant, options, position }: Game): Promise<void> {
    const { counts, players } = this.session;
    if (!counts || !this.isRated) return;
    if (Object.keys(options).length > 0) return;
    const bySide = [0, 1].map((side) => {
      const seats = variant.seats.filter((seat) => seat.side === side);
      return [...new Set(seats.map(({ index }) => players[index]))].join();
    });
    const side = bySide.indexOf(PERSON);
    const level = this.engine.info.levels.find(
      ({ id }) => side >= 0 && id === bySide[1 - side]);
    if (level === undefined) return;
    const { winner } = position.score;
    const score = winner === null ? 0.5 : winner === side ? 1 : 0;
    this.results.add(variant, level, { began: side === 0, score });
    const standing = await this.results.standing(variant);
    if (standing !== null) {
      this.notices.show(`${variant.name}: ${standingSentence(standing)}`);
    }
  }

  // Draws everything in the next frame, once for any number of calls.
  changed(): void {
    const { choiceDialog, session } = this;
    // Another position has come meanwhile.
    if (session.changes !== choiceDialog.since) choiceDialog.close();
    for (const part of this.parts) {
      if (part.isOpen && session.changes !== part.since) {
        part.close();
        this.resumeLater = false;
      }
    }
    this.moved = session.moved ?? this.moved;
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.render();
      this.moved = null;
    });
  }

  private render(): void {
    const { part, session } = this;
    const { game } = session;
    const apart = part?.rules;
    document.body.classList.toggle('apart', part !== undefined);
    document.body.classList.toggle('editing', part === this.editor);
    byId('variant-name').textContent = apart?.variant.name ?? rulesInWords(game);
    byId('aim').textContent = aimInWords(apart ?? game);
    document.title = `Tara: ${game.variant.name}`;
    this.renderBoard();
    for (const panel of [
      this.turnBar, this.analysis, this.guide, this.seats, this.course,
      this.moves, this.review, this.networkPanel, this.openings, this.toolbar,
    ]) panel.render();
  }

  private renderBoard(): void {
    const { session, part, board, shownGame: game } = this;
    const { position } = game;
    const isEdited = part instanceof Editor;
    const shown = isEdited ? part.board : position;
    if (shown !== this.shownPosition) {
      this.shownPosition = shown;
      board.showPosition(shown, isEdited ? null : this.moved);
    }
    if (isEdited) {
      board.showFacts({ waits: false });
      board.showMarks({ ...NO_MARKS, ...part.marks() }, part.labels());
      return;
    }
    const { chosen, personToMove: acts } = part ?? session;
    board.showFacts({
      ply: game.ply,
      actions: game.actions.length,
      waits: acts, // for a person to act
      changes: session.changes,
    });
    const mine = acts ? uses(position, chosen) : NO_MARKS.uses;
    const { besieged } = position;
    board.showMarks(
      {
        ...NO_MARKS,
        last: game.actions[game.ply - 1]?.action ?? null,
        ...(part === undefined && this.marksOfGame()),
        uses: mine,
        links: position.legal.filter(({ kind }) => acts && kind === 'link'),
        chosen,
        besieged,
        counted: this.counted(position),
        mover: position.side === null ? 'none' : SIDE_CLASS[position.side],
      },
      this.engine.info.geometry.hills.map(({ name, index: hill }) =>
        hillLabel(name, position, hill, mine.get(hill), besieged.includes(hill))),
    );
  }

  private counted(position: Position): readonly CountedHills[] {
    const { lesson, part, seats } = this;
    const isRead = part === lesson && !lesson.personToMove;
    const count = isRead ? lesson.step.shows : undefined;
    const ofLesson = count === undefined
      ? [] : ([0, 1] as const).map((side) => ({ count, side }));
    return (part === undefined ? [seats.shown] : ofLesson)
      .map((each) => each && countedHills(position, each))
      .filter((each) => each !== null);
  }

  private marksOfGame(): Partial<Marks> {
    const { session } = this;
    const { game, analysis, mistake, evaluation } = session;
    const best = analysis === null || session.trying !== null
      ? []
      : bestActions(analysis).map(({ action }) => action);
    return {
      ...(mistake !== null && { last: null }), // it would look like one
      hints: mistake === null ? best : [mistake.better],
      mistake: mistake?.played.action ?? null,
      heat: this.heat ? (evaluation?.policy ?? null) : null,
      owners: this.owners ? (evaluation?.owners ?? null) : null,
      area: game.variant.seats.length === 4 ? game.position.seat : null,
    };
  }
}
