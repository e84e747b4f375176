// Sentences about positions and actions, for the eye and for screen readers.

import type { PersonRating, Standing } from './results';
import { FAMILIES } from './families';
import { levelName } from './players';
import { faultOf, type GivenAway } from './review';
import { countOf, type Count, type ShownCount } from './score';
import type {
  Action, EndingTrigger, Evaluation, Game, HillIndex, Phase, PlayedAction,
  Position, Score, SearchProgress, VariantInfo, Verification,
} from '../engine/api';
import type { Use } from './selection';

export const SIDE_NAMES = ['Red', 'Blue'] as const;

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const USE_WORDS: Readonly<Record<Use, string>> = {
  build: 'build here',
  place: 'place a king here',
  capture: 'capture it',
  swap: 'swap it',
  start: 'start here',
  end: 'go here',
  set: 'set it up',
};

// Returns what stands on a hill: "Red ringfort with a king".
export function hillContent(
  { hills }: Pick<Position, 'hills'>,
  hill: HillIndex,
): string {
  const { owner, king } = hills[hill]!;
  if (owner === null) return 'vacant';
  const fort = `${SIDE_NAMES[owner]} ringfort`;
  if (king === null) return fort;
  return king === owner
    ? `${fort} with a king`
    : `${fort} with a stranded ${SIDE_NAMES[king]} king`;
}

// Returns the label of a hill for screen readers.
export function hillLabel(
  name: string,
  position: Position,
  hill: HillIndex,
  use: Use | undefined,
  isBesieged = false,
): string {
  const siege = isBesieged ? ', besieged' : '';
  const content = `${name}, ${hillContent(position, hill)}${siege}`;
  return use === undefined ? content : `${content}, ${USE_WORDS[use]}`;
}

// Returns what an action did, given the position before it:
// "Red South builds D4".
export function actionSentence(
  game: Game,
  played: PlayedAction,
  before: Position,
): string {
  const who = seatName(game.variant, played.seat);
  return `${who} ${actionVerb(played.action, before)}`;
}

function actionVerb(action: Action, before: Position): string {
  const [from, to] = action.notation.replace('*', '').split(/[-=]/);
  const owner = action.to === null ? null : before.hills[action.to]!.owner;
  switch (action.kind) {
    case 'pass':
      return 'passes, and the kings leave the board';
    case 'swap':
      return 'takes over the first action';
    case 'link':
      return `links ${from} and ${to}`;
    case 'sacrifice':
      return `moves a king from ${from} to ${to} and sacrifices the ringfort`;
    case 'king_move':
      if (owner === null) return `moves a king from ${from} to ${to}`;
      return owner === before.side
        ? `moves a king back from ${from} to ${to}`
        : `moves a king from ${from} and captures ${to}`;
    case 'hill':
      if (before.phase === 'placement') return `places a king on ${from}`;
      if (owner === null) return `builds ${from}`;
      return before.text.startsWith('stone_of_destiny')
        ? `swaps ${from}`
        : `captures ${from}`;
  }
}

export function seatName(variant: VariantInfo, seat: number): string {
  return variant.seats[seat]!.name;
}

export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Returns the name of an option in words: "pie rule".
export function optionName(name: string): string {
  return name.replace(/_/g, ' ');
}

// Returns the options that are not as usual, each with its name and value:
// "compensation 2.5", "pie rule", "without last turns".
function changedOptions({ variant, options }: Game) {
  return variant.options
    .filter(({ name, defaultValue }) =>
      (options[name] ?? defaultValue) !== defaultValue)
    .map(({ name, isSwitch, help }) => {
      const isOff = isSwitch && options[name] === 0;
      const value = isSwitch ? '' : ` ${options[name]}`;
      const words = (isOff ? 'without ' : '') + optionName(name) + value;
      return { name, help, isOff, words };
    });
}

// Returns the rules that a game goes by: "Poisoned Chalice, compensation 2.5,
// pie rule". Options that are as usual are left out.
export function rulesInWords(game: Game): string {
  const { variant, start } = game;
  const changed = changedOptions(game).map(({ words }) => words);
  const from = start === null ? [] : ['from a set-up position'];
  return [variant.name, ...changed, ...from]
    .join(', ')
    .replace(' -', ' \u2212');
}

// Returns what wins a game, in a line: "Fewest kingdoms wins; if equal, most
// ringforts."
export function aimInWords(game: Pick<Game, 'variant' | 'options'>): string {
  const { goal } = FAMILIES[game.variant.family];
  return breaksTies(game) ? goal : goal.replace(/;.*/, '.');
}

function breaksTies({ options }: Pick<Game, 'options'>): boolean {
  return options['territory_breaks_ties'] !== 0;
}

// What holds where a switch that is usually on is off, as a sentence without
// its full stop.
const OFF: Readonly<Record<string, string>> = {
  last_turns: 'the game ends at once when a player cannot move',
  link_all_at_end: 'at the end only links that were made count',
  shared_row_opening: 'the first ringfort of a side may be on any row',
  territory_breaks_ties:
    'if kingdoms or bridges are equal, ringforts do not count',
};

// Options that change nothing of what a turn may be.
const OF_THE_RESULT = new Set([
  'compensation',
  'last_turns',
  'link_all_at_end',
  'no_progress_limit',
  'territory_breaks_ties',
]);

// Returns what a game's options change in the rules of its variant, or of its
// turns alone; '' if nothing: "This game has other rules. Free capture: a
// besieged enemy single may be captured, but need not be."
export function otherRules(game: Game, ofTurns = false): string {
  const sentences = changedOptions(game)
    .filter(({ name }) => !(ofTurns && OF_THE_RESULT.has(name)))
    .map(({ name, words, help, isOff }) =>
      `${capital(words)}: ${isOff ? OFF[name] : help}.`);
  if (sentences.length === 0) return '';
  return ['This game has other rules.', ...sentences]
    .join(' ')
    .replace(' -', ' \u2212');
}

// Why a game has ended, and what has announced its end.
const ENDINGS: Readonly<Record<EndingTrigger, readonly [string, string]>> = {
  out: ['No turns were left', 'Out'],
  double_capture: ['Two kings were captured', 'Two kings captured'],
  passed: ['The kings had passed', 'Passed'],
  board_full: ['The board was full', 'Board full'],
  no_progress: ['There was no progress for too long', 'No progress'],
};

// Returns why a game has ended: "No turns were left".
export function endingReason(ending: EndingTrigger | null): string {
  return ending === null ? '' : ENDINGS[ending][0];
}

// Returns what is special about the position, or '': "Out: 2 turns left".
export function warning(position: Position): string {
  if (position.ending !== null && position.turnsLeft !== null) {
    const left = plural(position.turnsLeft, 'turn');
    return `${ENDINGS[position.ending][1]}: ${left} left`;
  }
  const { noProgress, noProgressLimit } = position;
  if (!noProgress || noProgressLimit === null) return '';
  const left = noProgressLimit - noProgress;
  return left <= Math.max(10, noProgressLimit / 4)
    ? `No progress: the game ends in ${left}` : '';
}

const PHASES: Readonly<Record<Phase, string>> = {
  placement: 'Placement',
  manoeuvres: 'Manoeuvres',
  battle: 'Battle',
  link: 'Battle: link',
  finished: 'Game over',
};

export function phaseName({ phase }: Pick<Position, 'phase'>): string {
  return PHASES[phase];
}

// Returns how a position stands: "Battle: Red to move, 17 legal actions".
export function standing(variant: VariantInfo, position: Position): string {
  if (position.finished) {
    return `${endingReason(position.ending)}: ${resultSentence(position.score)}`;
  }
  const legal = plural(position.legal.length, 'legal action');
  const note = warning(position);
  return (
    `${phaseName(position)}: ${seatName(variant, position.seat!)} to move, ` +
    `${legal}${note === '' ? '' : `. ${note}`}`
  );
}

// Returns where in a game one is: "Action 3 of 17: D4. Blue to move."
export function placeSentence(game: Game): string {
  const { variant, actions, ply, position } = game;
  const last = actions[ply - 1];
  const place = last === undefined
    ? 'The start of the game'
    : `Action ${ply} of ${actions.length}: ${last.action.notation}`;
  const next = position.finished
    ? resultSentence(position.score)
    : `${seatName(variant, position.seat!)} to move`;
  return `${place}. ${next}.`;
}

// Returns the request to the seat to move.
export function request(position: Position, chosen: HillIndex | null): string {
  const kinds = new Set(position.legal.map((action) => action.kind));
  if (position.phase === 'link') {
    return chosen === null
      ? 'Choose two neighbouring ringforts to link'
      : 'Choose the ringfort to link it with';
  }
  if (position.phase === 'placement') {
    return kinds.has('swap') ? 'Place a king, or swap' : 'Place a king';
  }
  if (kinds.has('king_move') || kinds.has('sacrifice')) {
    return chosen === null
      ? `Choose a king to move${kinds.has('pass') ? ', or pass' : ''}`
      : 'Choose where it goes';
  }
  if (kinds.has('pass')) return 'Pass: no other turn is left';
  if (kinds.has('swap')) return 'Build a ringfort, or swap';
  const captures = position.legal.filter(
    (action) => action.to !== null && position.hills[action.to]!.owner !== null,
  ).length;
  if (captures === 0) return 'Build a ringfort';
  if (position.text.startsWith('stone_of_destiny')) return 'Swap a ringfort';
  return captures === position.legal.length
    ? 'Capture a besieged ringfort'
    : 'Build or capture';
}

// Returns what decided a finished game: "Red has 2 kingdoms, Blue 1"; '' after
// a double capture, where nothing else counts.
export function decisiveCount(game: Game): string {
  const { score, ending } = game.position;
  if (ending === 'double_capture') return '';
  const first = game.variant.family === 'four_treasures' ? 'bridge' : 'kingdom';
  const [red, blue] = score[`${first}s`];
  const has = (count: readonly [number, number], what: string): string =>
    `Red has ${plural(count[0], what)}, Blue ${count[1]}`;
  if (red !== blue) return has([red, blue], first);
  if (!breaksTies(game)) {
    return `${plural(red, first)} each, and ringforts do not count`;
  }
  return `${plural(red, first)} each; ${has(score.territory, 'ringfort')}`;
}

// Returns what a count is, and what it is good for: "Red has 4 kingdoms,
// numbered on the board: groups of linked ringforts. Fewest kingdoms wins; if
// equal, most ringforts."
export function countSentence(game: Game, shown: ShownCount): string {
  const { position, variant } = game;
  const who = SIDE_NAMES[shown.side];
  const when = position.finished ? '' : ' if the game ended now';
  const number = (what: string): string =>
    plural(countOf(position, shown), what);
  const sentences: Readonly<Record<Count, string>> = {
    kingdoms:
      `${who} has ${number('kingdom')}, numbered on the board: groups of ` +
      'linked ringforts.',
    territory: `${who} has ${number('ringfort')} on the board.`,
    bridges:
      `${who} has ${number('bridge')} between neighbouring ringforts; at ` +
      'most 40 count.',
    kings: `${who} has captured ${number('enemy king')}.`,
    points: `${who}’s points${when}.`,
  };
  const { text } = FAMILIES[variant.family].aim;
  const aim = shown.count === 'points' ? text : aimInWords(game);
  return `${sentences[shown.count]} ${aim}`;
}

// Returns why and how a finished game was decided, each as a sentence without
// its full stop.
export function howItEnded(game: Game): string[] {
  const reason = endingReason(game.position.ending);
  return [reason, decisiveCount(game)].filter(Boolean);
}

export function percent(value: number): string {
  return `${Math.round(value)}\u00a0%`;
}

// Returns both sides' chances, a draw as half of a win, and the expected
// margin: "Red 53 % · Blue 47 %, Red by 0.4 points". `redValue` is win minus
// loss.
export function chances(redValue: number, redMargin: number): string {
  const red = Math.round(50 + 50 * redValue);
  const points = Math.abs(redMargin).toFixed(1);
  const leader = SIDE_NAMES[redMargin > 0 ? 0 : 1];
  const lead =
    points === '0.0' ? 'even in points' : `${leader} by ${points} points`;
  return `Red ${percent(red)} · Blue ${percent(100 - red)}, ${lead}`;
}

// Returns the chance to win of win minus loss: "53 %".
export function chanceOf(value: number): string {
  return percent(50 + 50 * value);
}

// Returns what a search says of the position, and where the network's policy,
// which `before` has, was of another opinion: "After 800 simulations: Red 53 % ·
// Blue 47 %, Red by 0.4 points.", "At first sight, the network preferred C3
// (41 % against 2 %)."
export function analysisSentences(
  found: SearchProgress,
  before: Evaluation | null,
): string[] {
  const value =
    `After ${plural(found.simulations, 'simulation')}: ` +
    `${chances(found.redValue, found.redMargin)}.`;
  const best = found.actions[0]?.action;
  const policy = before?.by === 'network' ? before.policy : [];
  const [first] = policy;
  if (!first || !best || first.action.index === best.index) return [value];
  const own = policy.find(({ action }) => action.index === best.index);
  return [
    value,
    `At first sight, the network preferred ${first.action.notation} ` +
      `(${percent(100 * first.probability)} against ` +
      `${percent(100 * (own?.probability ?? 0))}).`,
  ];
}

// Returns what an action gave away, and what was better: "Action 17: Blue
// played D4, a blunder (22 % of winning). Better: E6, then C2 F3."
export function givenAwaySentence(game: Game, found: GivenAway): string {
  const { ply, played, lost, line, better } = found;
  const rest = line.slice(1, 6).map(({ notation }) => notation);
  const then = rest.length === 0 ? '' : `, then ${rest.join(' ')}`;
  const fault = faultOf(lost)!;
  return (
    `Action ${ply + 1}: ${seatName(game.variant, played.seat)} played ` +
    `${played.action.notation}, ${fault === 'inaccuracy' ? 'an' : 'a'} ` +
    `${fault} (${percent(100 * lost)} of winning). Better: ` +
    `${better.notation}${then}.`
  );
}

// Returns how strong a person is by the games so far, and what to play next:
// "You have about 1150 Elo (850 to 1450, by 6 games). Next: Computer 5."; of few
// games "2 games so far. Next: Computer 3."
export function standingSentence({ games, rating, next }: Standing): string {
  const proposal = `Next: ${levelName(next)}.`;
  if (rating === null) return `${plural(games, 'game')} so far. ${proposal}`;
  return `${ratingInWords(rating).slice(0, -1)}, by ${plural(games, 'game')}). ${proposal}`;
}

// Returns an Elo rounded to tens.
export function tens(elo: number): string {
  return String(Math.round(elo / 10) * 10).replace('-', '\u2212');
}

// Returns a rating with its interval: "You have about 1150 Elo (850 to 1450)".
export function ratingInWords({ elo, interval }: PersonRating): string {
  return (
    `You have about ${tens(elo)} Elo (${tens(elo - interval)} to ` +
    `${tens(elo + interval)})`
  );
}

// Returns the result, the winner's points first, with the compensation: "Blue
// wins, 6 to 0".
export function resultSentence(score: Score): string {
  const { points, compensation, winner } = score;
  const [red, blue] = [points[0], points[1] + compensation];
  if (winner === null) return `A draw, ${red} to ${blue}`;
  const [most, least] = winner === 0 ? [red, blue] : [blue, red];
  return `${SIDE_NAMES[winner]} wins, ${most} to ${least}`;
}

// Returns whether a bundle's network does here what it did when it was made.
export function verificationSentence(found: Verification): string {
  const result = found.agrees
    ? 'The network gives the same outputs here as when it was exported'
    : 'The network’s outputs differ here from those at its export';
  return (
    `${result}: ${plural(found.positions, 'position')}, largest difference ` +
    `${found.worst.toExponential(1)} (${found.tolerance} is allowed).`
  );
}
