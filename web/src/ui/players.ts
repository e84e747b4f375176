// The players of the seats.

import type { Level, VariantInfo } from '../engine/api';

export const PERSON = 'person';

// A person, or the id of the computer's level: "level:3".
export type Player = string;

// Returns a player of a kept game; nobody known is a person.
export function knownPlayer(id: string, levels: readonly Level[]): Player {
  return levels.some((level) => level.id === id) ? id : PERSON;
}

// Returns the name of a level as a player: "Computer 4". "Level" in the page
// refers to the rules, as in "Sacred Hill, Level 1".
export function levelName(level: Level): string {
  return level.name.replace('Level', 'Computer');
}

// Returns a level for people to choose: "Computer 4 · 1230 Elo", with its Elo in
// the variant, where the network is the one that was measured.
export function levelLabel(
  level: Level,
  variant: VariantInfo,
  rated: boolean,
): string {
  return rated
    ? `${levelName(level)} \u00b7 ${level.elo[variant.id]!.elo} Elo`
    : levelName(level);
}

// Returns the level that a newcomer meets: one above the weakest.
export function defaultLevel(levels: readonly Level[]): string {
  return levels[Math.min(1, levels.length - 1)]!.id;
}

// Returns a person as Red (in doubles as Red South) against the computer.
export function defaultPlayers(
  variant: VariantInfo,
  levels: readonly Level[],
): Player[] {
  const computer = defaultLevel(levels);
  return variant.seats.map((_, seat) => (seat === 0 ? PERSON : computer));
}

// Returns `players` for another number of seats: a seat keeps its player, a
// further one takes the player of the same side, or a person.
export function fitPlayers(
  players: readonly Player[],
  variant: VariantInfo,
): Player[] {
  return variant.seats.map(
    (_, seat) => players[seat] ?? players[seat % 2] ?? PERSON,
  );
}
