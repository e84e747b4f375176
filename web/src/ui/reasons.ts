// Why a hill cannot be acted on now: the rule that forbids it, in a sentence.
// Only the engine decides what is legal; this names the rule of
// docs/reference/rules.md (sections 3 to 8 and 10.1) behind an answer that has
// been given. tests/ui_rules.test.mjs holds the two together: in games of all
// variants a hill has a reason here exactly if it is illegal.

import { isInArea } from './board/marks';
import { isBesieged } from './score';
import { SIDE_NAMES } from './words';
import type {
  Geometry,
  HillIndex,
  Position,
  RuleOptions,
  Side,
  VariantInfo,
} from '../engine/api';

export interface Situation {
  readonly geometry: Geometry;
  readonly variant: VariantInfo;
  readonly options: RuleOptions;
  readonly position: Position;
}

// Squared distance of a knight's move.
const KNIGHT = 5;
const FILES = 'ABCDEFG';
// Of the seats in doubles: the rows that each may act on.
const AREAS = ['ranks 1 to 4', 'files A to D', 'ranks 4 to 7', 'files D to G'];

// Returns why `hill` is refused when `chosen`, a king or a ringfort to link,
// was pointed at before; null: no rule forbids it.
export function whyNot(
  situation: Situation,
  hill: HillIndex,
  chosen: HillIndex | null,
): string | null {
  const { position, variant } = situation;
  if (position.side === null || position.seat === null) return null;
  const board = new BoardForSide(situation, position.side);
  if (!inArea(situation, hill)) {
    const { name } = variant.seats[position.seat]!;
    const rows = AREAS[position.seat]!;
    return `${board.name(hill)} is outside the rows of ${name}: ${rows}.`;
  }
  const opening = board.opening(hill);
  if (opening !== null) return opening;
  switch (variant.family) {
    case 'sacred_hill':
      return sacredHill(board, hill);
    case 'four_treasures':
      return fourTreasures(board, hill);
    case 'high_kings':
      return highKings(board, hill, chosen);
    case 'poisoned_chalice':
      return poisonedChalice(board, hill);
    case 'stone_of_destiny':
      return stoneOfDestiny(board, hill, chosen);
  }
}

// Returns whether the seat to move may act on the hill at all: in doubles on
// the four rows nearest to it (section 5).
export function inArea(
  { variant, position, geometry }: Situation,
  hill: HillIndex,
): boolean {
  if (variant.seats.length < 4 || position.seat === null) return true;
  return isInArea(geometry.hills[hill]!, position.seat);
}

// The position as the side to move sees it.
class BoardForSide {
  readonly own: string; // "Red"
  readonly enemy: string;
  readonly position: Position;
  readonly hills: readonly HillIndex[];

  constructor(
    readonly situation: Situation,
    readonly side: Side,
  ) {
    this.position = situation.position;
    this.own = SIDE_NAMES[side];
    this.enemy = SIDE_NAMES[side === 0 ? 1 : 0];
    this.hills = situation.geometry.hills.map(({ index }) => index);
  }

  option(name: string): number {
    const { options, variant } = this.situation;
    const info = variant.options.find((option) => option.name === name);
    return options[name] ?? info?.defaultValue ?? 0;
  }

  at(hill: HillIndex) {
    return this.situation.geometry.hills[hill]!;
  }

  name(hill: HillIndex): string {
    return this.at(hill).name;
  }

  isVacant(hill: HillIndex): boolean {
    return this.position.hills[hill]!.owner === null;
  }

  isOwn(hill: HillIndex): boolean {
    return this.position.hills[hill]!.owner === this.side;
  }

  isEnemy(hill: HillIndex): boolean {
    return !this.isVacant(hill) && !this.isOwn(hill);
  }

  hasOwnKing(hill: HillIndex): boolean {
    return this.position.hills[hill]!.king === this.side;
  }

  hasKing(hill: HillIndex): boolean {
    return this.position.hills[hill]!.king !== null;
  }

  // Ringforts of the own side next to a hill.
  ownBeside(hill: HillIndex): readonly HillIndex[] {
    return this.at(hill).neighbours.filter((next) => this.isOwn(next));
  }

  isBesieged(hill: HillIndex): boolean {
    const { geometry } = this.situation;
    return this.isEnemy(hill) && isBesieged(geometry, this.position, hill);
  }

  // Vacant hills and enemy ringforts to capture that the seat may act on.
  inArea(hill: HillIndex): boolean {
    return inArea(this.situation, hill);
  }

  captures(): readonly HillIndex[] {
    return this.hills.filter(
      (hill) => this.inArea(hill) && this.isBesieged(hill),
    );
  }

  // "F2, F4 or G5"; at most three of them.
  list(hills: readonly HillIndex[]): string {
    const names = hills.slice(0, 3).map((hill) => this.name(hill));
    const last = names.pop()!;
    return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
  }

  // The first ringfort of a game may have to keep off D4 (section 10.1).
  opening(hill: HillIndex): string | null {
    const least = this.option('opening_distance');
    if (this.position.vacant < this.hills.length || least === 0) return null;
    const { file, rank } = this.at(hill);
    if (Math.max(Math.abs(file - 3), Math.abs(rank - 3)) >= least) return null;
    const steps = least === 1 ? 'step' : 'steps';
    return `The first ringfort must be at least ${least} ${steps} from D4.`;
  }

  taken(hill: HillIndex): string {
    const owner = this.isOwn(hill) ? this.own : this.enemy;
    return `A ${owner} ringfort stands on ${this.name(hill)} already.`;
  }

  mustCapture(captures: readonly HillIndex[]): string {
    const which = this.list(captures);
    return `${this.own} must capture a besieged ringfort first: ${which}.`;
  }

  // Why an enemy ringfort cannot be captured; null: it is besieged.
  notBesieged(hill: HillIndex): string | null {
    if (this.isBesieged(hill)) return null;
    const { neighbours, name } = this.at(hill);
    const friend = neighbours.find((next) => this.isEnemy(next));
    if (friend !== undefined) {
      return (
        `${name} is linked to ${this.name(friend)}: only a single ringfort ` +
        'can be besieged.'
      );
    }
    const open = this.list(neighbours.filter((next) => this.isVacant(next)));
    return `${name} is not besieged: no ${this.own} ringfort on ${open}.`;
  }
}

// --- Sacred Hill: sections 3 to 5 --------------------------------------------

function sacredHill(board: BoardForSide, hill: HillIndex): string | null {
  if (board.position.phase === 'manoeuvres') return spreading(board, hill);
  if (board.isOwn(hill)) return board.taken(hill);
  if (board.isEnemy(hill) && !board.isBesieged(hill)) {
    return board.notBesieged(hill);
  }
  return board.situation.variant.level === 2
    ? byPriority(board, hill)
    : captureThenGrow(board, hill);
}

function spreading(board: BoardForSide, hill: HillIndex): string | null {
  const { name, file, rank, knightMoves } = board.at(hill);
  if (board.isOwn(hill)) return board.taken(hill);
  if (board.isEnemy(hill)) {
    return (
      `A ${board.enemy} ringfort stands on ${name}: captures begin with ` +
      'Battle.'
    );
  }
  const forts = board.hills.filter((each) => board.isOwn(each));
  if (forts.length === 0) return sharedRow(board, hill);
  const bound = board.option('proximity_bound');
  const near = forts.find((fort) => {
    const at = board.at(fort);
    return (at.file - file) ** 2 + (at.rank - rank) ** 2 < bound;
  });
  if (near !== undefined) {
    const measure = bound === KNIGHT ? ': nearer than a knight’s move' : '';
    return `${name} is too near to ${board.name(near)}${measure}.`;
  }
  return knightMoves.some((other) => board.isOwn(other))
    ? null
    : `${name} is not a knight’s move from a ${board.own} ringfort.`;
}

function sharedRow(board: BoardForSide, hill: HillIndex): string | null {
  const isDoubles = board.situation.variant.seats.length > 2;
  if (!isDoubles || board.option('shared_row_opening') === 0) return null;
  const { file, rank } = board.at(hill);
  if ((board.side === 0 ? rank : file) === 3) return null;
  const row = board.side === 0 ? 'rank 4' : 'file D';
  return (
    `The first ${board.own} ringfort must be on ${row}, which the partners ` +
    'share.'
  );
}

// Battle of Level 1.
function captureThenGrow(board: BoardForSide, hill: HillIndex): string | null {
  if (!board.isVacant(hill)) return null;
  const captures = board.captures();
  if (captures.length > 0 && board.option('free_capture') === 0) {
    return board.mustCapture(captures);
  }
  const apart = board.option('build_apart') === 1;
  const canGrow = board.hills.some(
    (each) =>
      board.inArea(each) &&
      board.isVacant(each) &&
      board.ownBeside(each).length > 0,
  );
  return apart || !canGrow || board.ownBeside(hill).length > 0
    ? null
    : `${board.name(hill)} is not next to a ${board.own} ringfort.`;
}

// Battle of Level 2.
function byPriority(board: BoardForSide, hill: HillIndex): string | null {
  const captures = board.captures();
  if (board.option('capture_first') === 1 && captures.length > 0) {
    return board.isVacant(hill) ? board.mustCapture(captures) : null;
  }
  const least = board.option('build_apart');
  const priority = (each: HillIndex): number =>
    Math.max(least, board.ownBeside(each).length);
  const targets = board.hills.filter(
    (each) => board.inArea(each) && board.isVacant(each),
  );
  targets.push(...captures);
  const best = targets.reduce((one, other) =>
    priority(other) > priority(one) ? other : one,
  );
  if (priority(hill) >= priority(best)) return null;
  const count = (each: HillIndex): string =>
    board.ownBeside(each).length === 0
      ? 'none'
      : String(board.ownBeside(each).length);
  return (
    `${board.name(hill)} has ${count(hill)} of ${board.own}’s ringforts next ` +
    `to it, ${board.name(best)} has ${count(best)}: the most ringforts come ` +
    'first.'
  );
}

// --- Four Treasures: sections 5 and 6 ----------------------------------------

function fourTreasures(board: BoardForSide, hill: HillIndex): string | null {
  if (board.isOwn(hill)) return board.taken(hill);
  if (board.isEnemy(hill)) return board.notBesieged(hill);
  const captures = board.captures();
  return captures.length > 0 && board.option('free_capture') === 0
    ? board.mustCapture(captures)
    : null;
}

// --- High Kings: section 7 ---------------------------------------------------

function highKings(
  board: BoardForSide,
  hill: HillIndex,
  chosen: HillIndex | null,
): string | null {
  if (board.position.phase === 'placement') {
    if (!board.isVacant(hill)) return board.taken(hill);
    return besideOwn(board, hill, (next) => board.isOwn(next), 'ringfort');
  }
  const kings = board.hills.filter((each) => board.hasOwnKing(each));
  const stranded = kings.find((each) => board.isEnemy(each));
  const movers = stranded === undefined ? kings : [stranded];
  if (board.position.legal.every(({ kind }) => kind === 'pass')) {
    return `${board.own} can only pass: no ${board.own} king has a move.`;
  }
  if (board.hasOwnKing(hill)) {
    if (stranded !== undefined && stranded !== hill) {
      return `The stranded king on ${board.name(stranded)} must move first.`;
    }
    return kingWithoutMove(board, hill, movers);
  }
  const from = chosen !== null && movers.includes(chosen) ? [chosen] : movers;
  return destination(board, hill, from, movers);
}

// What a king must not arrive beside: in Manoeuvres ringforts of its side, in
// Battle other kings of its side.
function keepsAway(board: BoardForSide, hill: HillIndex): string | null {
  return board.position.phase === 'manoeuvres'
    ? besideOwn(board, hill, (next) => board.isOwn(next), 'ringfort')
    : besideOwn(board, hill, (next) => board.hasOwnKing(next), 'king');
}

function besideOwn(
  board: BoardForSide,
  hill: HillIndex,
  is: (next: HillIndex) => boolean,
  what: string,
): string | null {
  const { name, neighbours } = board.at(hill);
  const next = neighbours.find(is);
  return next === undefined
    ? null
    : `${name} is next to the ${board.own} ${what} on ${board.name(next)}.`;
}

// Whether one of the kings can build: reach a vacant hill.
function canBuild(board: BoardForSide, kings: readonly HillIndex[]): boolean {
  return kings.some((king) =>
    board
      .at(king)
      .knightMoves.some(
        (to) => board.isVacant(to) && keepsAway(board, to) === null,
      ),
  );
}

function kingWithoutMove(
  board: BoardForSide,
  hill: HillIndex,
  movers: readonly HillIndex[],
): string | null {
  const what = board.position.phase === 'manoeuvres' ? 'ringfort' : 'king';
  const { name, knightMoves } = board.at(hill);
  if (canBuild(board, [hill])) return null;
  if (canBuild(board, movers)) {
    return (
      `The king on ${name} reaches no vacant hill that is not next to a ` +
      `${board.own} ${what}; another king can, and must move.`
    );
  }
  const moves = knightMoves.some(
    (to) => destination(board, to, [hill], movers) === null,
  );
  return moves ? null : `The king on ${name} has no hill to go to.`;
}

// Why none of the kings `from` can go to a hill.
function destination(
  board: BoardForSide,
  hill: HillIndex,
  from: readonly HillIndex[],
  movers: readonly HillIndex[],
): string | null {
  const { name, knightMoves } = board.at(hill);
  const { phase, hills } = board.position;
  if (board.hasKing(hill)) {
    const whose = SIDE_NAMES[hills[hill]!.king!];
    return board.hasOwnKing(hill)
      ? `A ${whose} king stands on ${name}.`
      : `A ${whose} king stands on ${name}: kings are captured by besieging ` +
          'them.';
  }
  if (!from.some((king) => knightMoves.includes(king))) {
    const whose =
      from.length === 1
        ? `the king on ${board.name(from[0]!)}`
        : `a ${board.own} king`;
    return `${name} is not a knight’s move from ${whose}.`;
  }
  if (board.isVacant(hill)) return keepsAway(board, hill);
  if (phase === 'manoeuvres') {
    return (
      `A ringfort stands on ${name}: in Manoeuvres kings go to vacant ` +
      'hills.'
    );
  }
  const siege = board.isOwn(hill) ? null : board.notBesieged(hill);
  if (siege !== null) return siege;
  if (canBuild(board, movers)) {
    return (
      `A ringfort stands on ${name}: as long as a king can reach a vacant ` +
      'hill, one must.'
    );
  }
  return keepsAway(board, hill);
}

// --- Poisoned Chalice: section 8.1 -------------------------------------------

function poisonedChalice(board: BoardForSide, hill: HillIndex): string | null {
  if (board.position.phase === 'manoeuvres') return onEdges(board, hill);
  if (board.isOwn(hill)) return board.taken(hill);
  const rows = [0, 1, 2, 3, 4, 5, 6].map((index) => rowOf(board, index));
  const qualified = rows.filter((row) => row.qualifies);
  if (board.isEnemy(hill)) {
    const siege = board.notBesieged(hill);
    if (siege !== null || qualified.length === 0) return siege;
    return (
      `${board.own} has a qualified row, ${qualified[0]!.name}, and must ` +
      'build there before capturing.'
    );
  }
  if (qualified.length > 0) {
    const { file, rank } = board.at(hill);
    const row = rows[board.side === 0 ? file : rank]!;
    if (row.qualifies) return null;
    const why =
      row.enemy === 0
        ? `it has no ${board.enemy} ringfort`
        : `it has more ${board.own} ringforts than ${board.enemy} ones`;
    const title = row.name.replace(/^./, (letter) => letter.toUpperCase());
    return `${title} does not qualify: ${why}.`;
  }
  const captures = board.captures();
  return captures.length > 0 ? board.mustCapture(captures) : null;
}

// A row of the side to move: Red's are files, Blue's ranks.
function rowOf(board: BoardForSide, index: number) {
  const isFile = board.side === 0;
  const hills = board.hills.filter((hill) => {
    const { file, rank } = board.at(hill);
    return (isFile ? file : rank) === index;
  });
  const own = hills.filter((hill) => board.isOwn(hill)).length;
  const enemy = hills.filter((hill) => board.isEnemy(hill)).length;
  return {
    name: isFile ? `file ${FILES[index]!}` : `rank ${index + 1}`,
    enemy,
    qualifies: own + enemy < hills.length && enemy > 0 && own <= enemy,
  };
}

function onEdges(board: BoardForSide, hill: HillIndex): string | null {
  const { name, file, rank } = board.at(hill);
  // No hill is on two edges: the corners are no hills.
  const onRank = rank === 0 || rank === 6;
  if (!onRank && file !== 0 && file !== 6) {
    return (
      `${name} is not on an edge: Manoeuvres are played on the four ` + 'edges.'
    );
  }
  if (!board.isVacant(hill)) return board.taken(hill);
  const edge = onRank ? `rank ${rank + 1}` : `file ${FILES[file]!}`;
  const hasOne = board.hills.some((other) => {
    const at = board.at(other);
    return board.isOwn(other) && (onRank ? at.rank === rank : at.file === file);
  });
  if (hasOne) return `${board.own} has a ringfort on ${edge} already.`;
  const opposite = board.hills.find((other) => {
    const at = board.at(other);
    return onRank
      ? at.file === file && at.rank === 6 - rank
      : at.rank === rank && at.file === 6 - file;
  })!;
  return board.isVacant(opposite)
    ? null
    : `${name} is opposite the ringfort on ${board.name(opposite)}.`;
}

// --- Stone of Destiny: section 8.2 -------------------------------------------

function stoneOfDestiny(
  board: BoardForSide,
  hill: HillIndex,
  chosen: HillIndex | null,
): string | null {
  const { phase, hills } = board.position;
  if (phase === 'link') return linking(board, hill, chosen);
  const name = board.name(hill);
  const king = hills.findIndex((each) => {
    return each.king !== null && each.king !== board.side;
  });
  if (phase === 'manoeuvres') {
    if (!board.isVacant(hill)) return board.taken(hill);
    const inReach = (each: HillIndex): boolean => isNear(board, king, each);
    const anyInReach = board.hills.some(
      (each) => board.isVacant(each) && inReach(each),
    );
    return king < 0 || !anyInReach || inReach(hill)
      ? null
      : `${name} is not one or two steps, straight or diagonal, from the ` +
          `${board.enemy} king on ${board.name(king)}.`;
  }
  if (board.isOwn(hill)) {
    return `${name} is ${board.own}’s: a ${board.enemy} ringfort is swapped.`;
  }
  if (hill === king) return `The ${board.enemy} king stands on ${name}.`;
  return bridgesOf(board, hill).length > 0
    ? `${name} is linked and therefore permanently safe.`
    : null;
}

function isNear(
  board: BoardForSide,
  one: HillIndex,
  other: HillIndex,
): boolean {
  if (one < 0) return false;
  const files = Math.abs(board.at(one).file - board.at(other).file);
  const ranks = Math.abs(board.at(one).rank - board.at(other).rank);
  const straight = files === 0 || ranks === 0 || files === ranks;
  return straight && Math.max(files, ranks) >= 1 && Math.max(files, ranks) <= 2;
}

// The hills that a hill is linked with.
function bridgesOf(board: BoardForSide, hill: HillIndex): HillIndex[] {
  return board.position.bridges
    .filter(({ from, to }) => from === hill || to === hill)
    .map(({ from, to }) => (from === hill ? to : from));
}

function linking(
  board: BoardForSide,
  hill: HillIndex,
  chosen: HillIndex | null,
): string | null {
  const { name } = board.at(hill);
  if (!board.isOwn(hill)) {
    const { own, enemy } = board;
    return `${name} is ${enemy}’s: two ${own} ringforts are linked.`;
  }
  const linked = bridgesOf(board, hill);
  const open = board.ownBeside(hill).filter((next) => !linked.includes(next));
  if (chosen === null || open.length === 0) {
    return open.length > 0
      ? null
      : `${name} has no ${board.own} ringfort next to it that it is not ` +
          'linked with.';
  }
  if (open.includes(chosen)) return null;
  return linked.includes(chosen)
    ? `${name} and ${board.name(chosen)} are linked already.`
    : `${name} is not next to ${board.name(chosen)}.`;
}
