// The players of the seats.

import type { Level, VariantInfo } from '../engine/api';

export type Player =
  | { readonly kind: 'person' }
  | { readonly kind: 'computer'; readonly level: string };

export const PERSON: Player = { kind: 'person' };

// Returns a player of the text that `playerId` makes.
export function playerOf(id: string): Player {
  return id === 'person' ? PERSON : { kind: 'computer', level: id };
}

export function playerId(player: Player): string {
  return player.kind === 'person' ? 'person' : player.level;
}

// Returns a player of a kept game; nobody known is a person.
export function knownPlayer(id: string, levels: readonly Level[]): Player {
  return levels.some((level) => level.id === id) ? playerOf(id) : PERSON;
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
  const level = defaultLevel(levels);
  return variant.seats.map((_, seat) =>
    seat === 0 ? PERSON : { kind: 'computer', level },
  );
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
