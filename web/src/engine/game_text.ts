// Games as text: the JSON lines of docs/reference/rules.md section 12.1, which
// `tara verify` reads and `tara games export` writes, and as the shortest text
// for people: a variant, its options, and actions in notation, or a position
// that was set up, and actions.

import { messageOf } from '../error';
import type { Position } from './api';
import type { Core } from './core';
import { GameModel } from './game';
import { optionsToText, shortText } from './short_text';

const POSITION_FIELDS = 9;

/** The legal actions as the lines have them: sorted as text. */
function legalTexts(position: Position): string[] {
  return position.legal.map((action) => action.notation).sort();
}

function resultOf({ score, ending }: Position): object {
  const { compensation, kingsCaptured, winner, ...counts } = score;
  return { ...counts, kings_captured: kingsCaptured, winner, ended_by: ending };
}

function refuse(what: string, expected: string, got: unknown): never {
  throw new Error(`${what}: expected ${expected}, got ${JSON.stringify(got)}`);
}

/** Returns the line; without "result" if the game is not finished. Of a game
 * from a position that was set up, which these lines do not have, the short
 * form. */
export function gameToText(game: GameModel): string {
  if (game.start !== null) return shortText(game);
  const steps = game.actions.map((played, ply) => ({
    seat: played.seat,
    action: played.action.notation,
    legal: legalTexts(game.positionAt(ply)),
  }));
  const options: Record<string, number | boolean> = {};
  for (const [name, value] of Object.entries(game.options)) {
    const info = game.variant.options.find((option) => option.name === name);
    options[name] = info?.isSwitch ? value === 1 : value;
  }
  const last = game.positionAt(game.actions.length);
  return JSON.stringify({
    variant: game.variant.id,
    ...(Object.keys(options).length > 0 ? { options } : {}),
    steps,
    ...(last.finished ? { result: resultOf(last) } : {}),
  });
}

/** Returns the game of a text, at its last ply. Throws what is wrong. */
export function gameFromText(core: Core, text: string): GameModel {
  const trimmed = text.trim();
  if (trimmed === '') throw new Error('this text contains no game');
  return trimmed.startsWith('{') ?
    gameFromJson(core, trimmed) :
    gameFromWords(core, trimmed.split(/\s+/));
}

function gameFromWords(core: Core, words: string[]): GameModel {
  // Neither an option nor an action has a '/', as the board of a position has.
  if (words[1]?.includes('/')) {
    const fields = words.splice(0, POSITION_FIELDS);
    const game = GameModel.from(core, fields.join(' '));
    words.forEach((word) => playNext(game, word));
    return game;
  }
  const [variant = '', ...rest] = words;
  // A link, D4=E4, is not an option: names of options have no digits.
  const hasOptions = /^(-|[a-z_]+=.*)$/.test(rest[0] ?? '');
  const options = hasOptions ? rest.shift()! : '-';
  const game = GameModel.begin(core, variant, options);
  rest.forEach((word) => playNext(game, word));
  return game;
}

/** Counts actions from 1, as the page does. */
function playNext(game: GameModel, notation: string): void {
  try {
    game.play(notation);
  } catch (error) {
    throw new Error(`action ${game.ply + 1}: ${messageOf(error)}`);
  }
}

/** Of a step the action alone counts: `tara verify` compares the rest. */
function gameFromJson(core: Core, text: string): GameModel {
  const { variant, options, steps } = parseLine(text);
  if (typeof variant !== 'string') refuse("field 'variant'", 'text', variant);
  if (!Array.isArray(steps)) refuse("field 'steps'", 'an array', steps);
  const game =
      GameModel.begin(core, variant, optionsOfJson(core, variant, options));
  steps.forEach((step: { readonly action?: unknown } | null, ply) => {
    const action = step?.action;
    if (typeof action !== 'string') {
      refuse(`action ${ply + 1}`, 'an object with an action as text', step);
    }
    playNext(game, action);
  });
  return game;
}

/** Of several lines, a game each, the first is read. */
function parseLine(text: string): Record<string, unknown> {
  for (const candidate of [text, text.split('\n')[0] ?? '']) {
    try {
      return JSON.parse(candidate) as Record<string, unknown>;
    } catch {
      // Not one object over several lines; its first line may be one.
    }
  }
  throw new Error('this text begins like a JSON line but is not one');
}

function optionsOfJson(
    core: Core, variant: string, options: unknown): string {
  if (options === undefined) return '-';
  const info = core.known.variants.find((each) => each.id === variant);
  if (typeof options !== 'object' || options === null ||
      Array.isArray(options)) {
    refuse("field 'options'", 'an object', options);
  }
  const values: Record<string, number> = {};
  for (const [name, value] of Object.entries(options)) {
    if (typeof value !== 'number' && typeof value !== 'boolean') {
      refuse(`option '${name}'`, 'true, false or a number', value);
    }
    values[name] = Number(value);
  }
  // An unknown variant is reported first.
  return info === undefined ? '-' : optionsToText(info, values);
}
