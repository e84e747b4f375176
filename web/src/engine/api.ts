// How the page talks to the engine: rules, search and network, all in a worker.
// Every call returns a promise and none stalls the page.
//
// The engine holds one game and, if one was loaded, one network. What comes
// from outside (text, files, actions) is refused by a rejected promise whose
// Error has a message for people.
// Perspective: a name `red...` means Red's; a pair `[x, y]` is Red's, then
// Blue's. Nothing depends on the side to move.

/** 0 Red, 1 Blue. */
export type Side = 0 | 1;

/** A pair by side: Red's, then Blue's. */
export type BySide<T> = readonly [T, T];

/** 0 to 44, in canonical order: B1, C1, ... F7. */
export type HillIndex = number;

/** 0 to 569: the space of actions that all variants share. */
export type ActionIndex = number;

// --- What never changes ------------------------------------------------------

export interface Hill {
  readonly index: HillIndex;
  /** "D4". */
  readonly name: string;
  /** 0 (A) to 6 (G), from west to east. */
  readonly file: number;
  /** 0 to 6, from south to north; 0 is rank 1. */
  readonly rank: number;
  /** Adjacent hills, in canonical order. */
  readonly neighbours: readonly HillIndex[];
  /** Hills a knight's move away, in canonical order. */
  readonly knightMoves: readonly HillIndex[];
}

export interface Geometry {
  /** Files, and ranks: 7. The four corners are not hills. */
  readonly size: number;
  readonly hills: readonly Hill[];
}

export interface RuleOptionInfo {
  /** "no_progress_limit". */
  readonly name: string;
  readonly help: string;
  readonly isSwitch: boolean;
  /** Between values: 1 or 0.5. */
  readonly step: number;
  readonly min: number;
  readonly max: number;
  /** Of a switch: 0 or 1. */
  readonly defaultValue: number;
}

export interface SeatInfo {
  /** 0 to 3. Seats play in this order; the side is `index % 2`. */
  readonly index: number;
  readonly side: Side;
  /** "Red", or in doubles "Red South". */
  readonly name: string;
}

export type Family =
  | 'sacred_hill'
  | 'four_treasures'
  | 'high_kings'
  | 'poisoned_chalice'
  | 'stone_of_destiny';

export interface VariantInfo {
  /** "sacred_hill_l1". */
  readonly id: string;
  /** "Sacred Hill, Level 1". */
  readonly name: string;
  readonly family: Family;
  readonly level: number;
  readonly seats: readonly SeatInfo[];
  /** The rule options that apply to the variant. */
  readonly options: readonly RuleOptionInfo[];
}

/** Rule options that differ from their defaults; switches are 0 or 1. */
export type RuleOptions = Readonly<Record<string, number>>;

/** What `tara rate` measured, where level 5 has 1000: 95 % of such intervals
 * have the truth within `elo` plus or minus `interval`. */
export interface MeasuredElo {
  readonly elo: number;
  readonly interval: number;
}

/** How strong the computer is to play; `levels` lists them, weakest first. */
export interface Level {
  /** "level:3", as player specs have it. */
  readonly id: string;
  /** "Level 3". */
  readonly name: string;
  /** Simulations an action, with a network. */
  readonly simulations: number;
  /** By variant, with the ready-made network (NetworkInfo.rated). */
  readonly elo: Readonly<Record<string, MeasuredElo>>;
}

/** A game of a player against one whose rating is known, with its standard
 * deviation. */
export interface RatedGame {
  readonly elo: number;
  readonly deviation: number;
  /** Whether the rated player had the first turn. */
  readonly began: boolean;
  /** 1 won, 0.5 drawn, 0 lost. */
  readonly score: number;
}

export interface Rating {
  readonly elo: number;
  readonly deviation: number;
}

export interface EngineInfo {
  readonly geometry: Geometry;
  readonly variants: readonly VariantInfo[];
  readonly levels: readonly Level[];
  /** Version of docs/reference/rules.md that the engine plays by. */
  readonly rulesVersion: number;
  /** Version of the network's inputs that the engine can make. */
  readonly featureVersion: number;
  /** Version of the policy outputs and of the 570 actions. */
  readonly policyVersion: number;
  /** Version of the outputs for results and margins. */
  readonly valueVersion: number;
}

// --- Games and positions -----------------------------------------------------

export type ActionKind =
  | 'hill'
  | 'king_move'
  | 'sacrifice'
  | 'link'
  | 'pass'
  | 'swap';

export interface Action {
  readonly index: ActionIndex;
  /** "D4", "D4-E6", "C5-B3*", "D4=E4", "pass", "swap". */
  readonly notation: string;
  readonly kind: ActionKind;
  /** Where a king starts, or the first hill of a link; else null. */
  readonly from: HillIndex | null;
  /** The hill built, placed, captured, swapped or moved to, or the second hill
   * of a link; null for a pass or a swap. */
  readonly to: HillIndex | null;
}

export type Phase =
  | 'placement'
  | 'manoeuvres'
  | 'battle'
  | 'link'
  | 'finished';

export type EndingTrigger =
  | 'out'
  | 'double_capture'
  | 'passed'
  | 'board_full'
  | 'no_progress';

/** How a game stands, or how it ended. */
export interface Score {
  /** As scored. */
  readonly points: BySide<number>;
  /** Points that Blue's side gets in addition. */
  readonly compensation: number;
  readonly kingdoms: BySide<number>;
  readonly territory: BySide<number>;
  readonly bridges: BySide<number>;
  /** Enemy kings, by the capturing side. */
  readonly kingsCaptured: BySide<number>;
  /** The side with more points, the compensation counted; null: even. */
  readonly winner: Side | null;
}

export interface HillState {
  /** Whose ringfort stands there; null: vacant. */
  readonly owner: Side | null;
  /** Whose king stands there. A king on a ringfort of the other side is
   * stranded. */
  readonly king: Side | null;
}

/** Two linked hills; in canonical order. */
export interface Bridge {
  readonly from: HillIndex;
  readonly to: HillIndex;
  readonly side: Side;
}

export interface Position {
  /** The position as one line of text (docs/reference/rules.md, section
   * 12.2). */
  readonly text: string;
  /** By HillIndex. */
  readonly hills: readonly HillState[];
  /** Of Stone of Destiny the links that were made; elsewhere adjacency is
   * linkage, and all adjacent ringforts of a side are here. */
  readonly bridges: readonly Bridge[];
  /** The besieged ringforts, where they can be captured. */
  readonly besieged: readonly HillIndex[];
  readonly vacant: number;
  readonly phase: Phase;
  /** The seat to move and its side; null if finished. Successive actions may
   * belong to one seat, and seats may be skipped. */
  readonly seat: number | null;
  readonly side: Side | null;
  readonly finished: boolean;
  /** What ended the game, or what has announced its end. */
  readonly ending: EndingTrigger | null;
  /** Turns that may still be played once the end is announced; else null. */
  readonly turnsLeft: number | null;
  /** Actions or turns without progress, and how many of them end the game;
   * null where the variant does not count them. */
  readonly noProgress: number | null;
  readonly noProgressLimit: number | null;
  /** If the game ended as it stands; of a finished game its result. */
  readonly score: Score;
  /** The legal actions, by increasing index; empty if finished. */
  readonly legal: readonly Action[];
  /** A sentence or two on whose turn it is and what each side has. */
  readonly description: string;
}

export interface PlayedAction {
  readonly action: Action;
  readonly seat: number;
  readonly side: Side;
}

/** The game, at the ply that is looked at. */
export interface Game {
  readonly variant: VariantInfo;
  readonly options: RuleOptions;
  /** The position that it begins from as text, if that was set up; null: the
   * variant's own. */
  readonly start: string | null;
  /** All actions of the game, those after `ply` included. */
  readonly actions: readonly PlayedAction[];
  /** How many actions lead to `position`; 0 is the start. */
  readonly ply: number;
  readonly position: Position;
}

// --- Networks ----------------------------------------------------------------

/** A variant with the values of its rule options that a network was trained
 * on: those that all games had (an option that is missing had its default), and
 * those that were drawn for each game. */
export interface LearnedVariant {
  readonly id: string;
  readonly options?: Readonly<Record<string, number | boolean>>;
  readonly drawn?: Readonly<Record<string, readonly (number | boolean)[]>>;
}

export interface NetworkInfo {
  /** The name given to loadNetwork, such as that of the file. */
  readonly name: string;
  /** What it was trained on. */
  readonly variants: readonly LearnedVariant[];
  /** Whether it is the one that the levels' Elo was measured with. */
  readonly rated: boolean;
  /** Which ONNX file of the bundle its weights are from: "model.onnx". */
  readonly file: string;
  readonly bytes: number;
  /** Channels, blocks, parameters, run, games, rating, ...: what the bundle
   * says of itself, as text to show, in its order. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly licence: string | null;
}

/** An evaluator's result for a position. */
export interface Evaluation {
  /** Who says so: the network, or random games where there is none that has
   * learned the rules. */
  readonly by: 'network' | 'playouts';
  readonly ply: number;
  /** Probability of each legal action, by decreasing probability; uniform
   * without a network. */
  readonly policy: readonly {
    readonly action: Action;
    readonly probability: number;
  }[];
  /** Probabilities that Red and that Blue wins, and of a draw. Sum to 1. */
  readonly win: BySide<number>;
  readonly draw: number;
  /** Expected points of Red minus those of Blue, the compensation counted. */
  readonly redMargin: number;
  /** Probability of each final margin, by increasing margin; margins that are
   * as good as impossible are left out. */
  readonly redMargins: readonly {
    readonly margin: number;
    readonly probability: number;
  }[];
  /** By HillIndex: the probability that Red's and that Blue's ringfort stands
   * there at the end; null if the evaluator does not say. */
  readonly owners: readonly BySide<number>[] | null;
}

// --- Search ------------------------------------------------------------------

export interface SearchRequest {
  /** The number of actions before the position; default: game.ply. */
  readonly ply?: number;
  /** A position as text, in place of one of the game; `ply` and `after` do not
   * count. */
  readonly position?: string;
  /** The position after this action, played there in thought alone: an index,
   * or the notation. Default: none is. */
  readonly after?: ActionIndex | string;
  /** The id of one of `levels`; what is set below goes before it. Default: the
   * strongest. */
  readonly level?: string;
  readonly simulations?: number;
  /** The search ends after so long, if not before. */
  readonly milliseconds?: number;
  /** Of a choice by visits: 0, the default, plays as the level does; more plays
   * more loosely. */
  readonly temperature?: number;
  /** Of the choice among actions. The same request with the same seed chooses
   * the same action (except with `milliseconds`). Default: random. */
  readonly seed?: number;
}

export interface SearchedAction {
  readonly action: Action;
  /** Simulations that went there. */
  readonly visits: number;
  readonly prior: number;
  /** Expected win minus loss for the side to move at the root, in [-1, 1]; 0
   * if not visited. */
  readonly value: number;
  /** The same for Red. */
  readonly redValue: number;
  /** What is proved of the result if this is played: Red's points minus
   * Blue's and the compensation are at least and at most so much; null: nothing
   * that matters. */
  readonly provedRedMargin: readonly [number, number] | null;
  /** The most visited line that begins with the action. */
  readonly line: readonly Action[];
}

export interface SearchProgress {
  readonly ply: number;
  readonly simulations: number;
  /** Of the request; the search may end before, if all is proved. */
  readonly targetSimulations: number;
  readonly milliseconds: number;
  /** By decreasing visits. */
  readonly actions: readonly SearchedAction[];
  /** Win minus loss for Red, in [-1, 1]. */
  readonly redValue: number;
  /** Expected points of Red minus those of Blue, the compensation counted. */
  readonly redMargin: number;
  /** The most visited line. */
  readonly principalVariation: readonly Action[];
  readonly by: 'network' | 'playouts';
}

export interface SearchResult extends SearchProgress {
  /** The action to play. */
  readonly action: Action;
  /** Whether stop() ended the search. */
  readonly stopped: boolean;
}

/** A search under way. */
export interface Search {
  /** Rejected only if the request is bad or the network fails. */
  readonly result: Promise<SearchResult>;
  /** Ends the search soon; the result is then what was found so far. */
  stop(): void;
}

// --- The engine --------------------------------------------------------------

/** How the network as it runs here compares with the golden positions of its
 * bundle. */
export interface Verification {
  readonly positions: number;
  /** The largest difference of a probability, or of a margin as a share of the
   * largest one. */
  readonly worst: number;
  /** Up to here the bundle calls outputs the same. */
  readonly tolerance: number;
  readonly agrees: boolean;
}

/** Several calls may be under way; each position that a call is about is that
 * of the moment when it was made. Searches run one after another. */
export interface Engine {
  /** There as soon as createEngine has resolved. */
  readonly info: EngineInfo;

  /** Begins a game. */
  newGame(variant: string, options?: RuleOptions): Promise<Game>;
  /** The game as it is. Before any newGame: the first variant's start. */
  game(): Promise<Game>;
  /** Plays at the ply that is looked at; what came after it is dropped. An
   * index, or the notation. */
  play(action: ActionIndex | string): Promise<Game>;
  /** Takes the last `count` actions before the current ply back, and drops
   * what comes after. Default 1; at the start it changes nothing. */
  undo(count?: number): Promise<Game>;
  /** Looks at another ply of the game, 0 to actions.length; drops nothing. */
  goTo(ply: number): Promise<Game>;
  /** The position after this number of actions; does not change the game. */
  positionAt(ply: number): Promise<Position>;
  /** The position after an action that is played at a ply in thought alone. */
  positionAfter(ply: number, action: ActionIndex | string): Promise<Position>;

  /** The game as a JSON line (docs/reference/rules.md section 12.1), all its
   * actions. A finished game is what `tara verify` reads; an unfinished one
   * lacks the result. A game from a position that was set up, which JSON lines
   * do not have, is that position and its actions. */
  saveGame(): Promise<string>;
  /** Begins the game of a text: a JSON line; a variant (with its options as
   * name=value,...) and actions in notation, parted by white space; or a
   * position and actions (section 12.2). Looks at its last ply. */
  loadGame(text: string): Promise<Game>;

  /** The position of a text, of which fields may be left to what follows from
   * the board (section 12.2); the game stays as it is. */
  completePosition(text: string): Promise<Position>;
  /** The last position of a text as loadGame takes it; the game stays as it
   * is. */
  positionOf(text: string): Promise<Position>;
  /** Why a hill of a position's text cannot be acted on, in a sentence, after
   * `chosen`, a king or a ringfort to link; null: no rule forbids it. */
  whyNot(
      position: string, hill: HillIndex,
      chosen?: HillIndex | null): Promise<string | null>;
  /** The position at a ply (default: game.ply) as an SVG document, with the
   * last action marked. */
  picture(ply?: number): Promise<string>;

  /** Takes a bundle (docs/reference/bundle.md) in place of the network there
   * is, which stays if the bundle is refused. */
  loadNetwork(
      bundle: Blob | ArrayBuffer | Uint8Array, name: string):
      Promise<NetworkInfo>;
  /** Back to random games. */
  unloadNetwork(): Promise<void>;
  /** null: none is loaded. */
  network(): Promise<NetworkInfo | null>;
  /** Evaluates the golden positions of the bundle. REQUIRES: a network is
   * loaded. */
  verifyNetwork(): Promise<Verification>;

  /** Judges the position at a ply (default: game.ply) without search. REQUIRES:
   * it is not finished. */
  evaluate(ply?: number): Promise<Evaluation>;
  /** Searches a position. REQUIRES: it is not finished, nor is the one after
   * request.after. `onProgress` is called
   * some times a second while the search runs. */
  search(
      request?: SearchRequest,
      onProgress?: (progress: SearchProgress) => void): Search;

  /** The rating, in a variant, of a player with these games, by the model and
   * with the prior of `tara rate`. */
  rate(variant: string, games: readonly RatedGame[]): Promise<Rating>;

  /** Ends the worker; calls under way are rejected. */
  close(): void;
}
