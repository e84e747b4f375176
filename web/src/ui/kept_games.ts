// The games that the browser keeps: the game of this tab, which a reload
// restores, and recent ones. Each has its own entry in local storage, so tabs
// do not overwrite each other; the tab's own game is also in session storage,
// out of reach of other tabs.

import { fieldsOf, readText, storage, write } from './storage';

const PREFIX = 'tara.games.';
const TAB = 'tara.tab';
const VERSION = 1;
const MOST = 30; // entries; the oldest go first

interface GameToKeep {
  readonly text: string; // what the engine loads
  readonly players: readonly string[];
  readonly paused: boolean;
  readonly counts: boolean; // Session.counts
  readonly result: string; // in words; '' during the game
  readonly others: readonly string[]; // its other lines, as text
}

export interface KeptGame extends GameToKeep {
  readonly id: string;
  readonly savedMs: number; // since 1970
  readonly writer: string; // the page load that wrote it
}

function randomId(): string {
  return Math.random().toString(36).slice(2, 12);
}

export interface Outline {
  readonly variant: string; // its id
  readonly actions: number;
  readonly isSetUp: boolean; // begins from a position that was set up
}

// Returns what a text says of itself without the rules.
export function outline(text: string): Outline {
  if (!text.startsWith('{')) {
    const [variant = '', ...words] = text.split(/\s+/);
    const isSetUp = words[0]?.includes('/') ?? false;
    const actions = isSetUp
      ? words.slice(8) // the other fields of the position
      : words.filter((word) => !/^(-|[a-z_]+=.*)$/.test(word));
    return { variant, actions: actions.length, isSetUp };
  }
  const { variant = '', steps } = fieldsOf(text);
  const actions = Array.isArray(steps) ? steps.length : 0;
  return { variant: String(variant), actions, isSetUp: false };
}

// Whether there is something in a game that would be missed.
export function isBegun(text: string): boolean {
  const { actions, isSetUp } = outline(text);
  return actions > 0 || isSetUp;
}

// Dates go 100 million days from 1970.
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}

function parse(id: string, raw: string | null): KeptGame | null {
  const entry = fieldsOf(raw);
  const { version, text, players, result, others, savedMs } = entry;
  if (version !== VERSION || typeof text !== 'string') return null;
  if (!Array.isArray(players)) return null;
  return {
    id,
    text,
    players: players.map(String),
    paused: entry['paused'] === true,
    counts: entry['counts'] === true,
    result: typeof result === 'string' ? result : '',
    others: Array.isArray(others) ? others.map(String) : [],
    savedMs: isTime(savedMs) ? savedMs : 0,
    writer: String(entry['writer']),
  };
}

export class KeptGames {
  private readonly local = storage('local');
  private readonly session = storage('session');
  private readonly writer = randomId();
  private id = randomId(); // of this tab's game
  private seen: string | null = null; // its writer when it was last looked at

  // Returns the game that this tab had before it was reloaded, in a new tab the
  // latest of all. Null: no games.
  latest(): KeptGame | null {
    return this.ofTab() ?? this.list()[0] ?? null;
  }

  private ofTab(): KeptGame | null {
    const raw = readText(TAB, this.session);
    const { id } = fieldsOf(raw);
    return typeof id === 'string' ? parse(id, raw) : null;
  }

  // Whether this tab's game, as far as it has come, is nowhere else, as the
  // storage for all tabs has no room: another game would take its place.
  get onlyInTab(): boolean {
    const own = this.ofTab();
    return own !== null && isBegun(own.text) &&
      !this.list().some(({ text }) => text.startsWith(own.text));
  }

  // Makes a kept game this tab's.
  take(game: KeptGame): void {
    this.id = game.id;
    this.seen = game.writer;
  }

  // Another game begins in this tab; its last game stays, unless nobody has
  // played in it.
  begin(): void {
    const old = this.read(this.id);
    if (old !== null && old.writer === this.seen && !isBegun(old.text)) {
      this.remove(this.id);
    }
    this.id = randomId();
    this.seen = null;
  }

  // Keeps this tab's game as it is now. Returns whether it could.
  keep(game: GameToKeep): boolean {
    const stored = this.read(this.id);
    // Where another tab has gone on with the game, each keeps its own.
    if (stored !== null && stored.writer !== this.seen) this.id = randomId();
    // Who looks back on a finished game keeps its result.
    const known = stored?.text === game.text ? stored.result : '';
    const shown = { ...game, result: game.result || known };
    const { writer } = this;
    const entry = { version: VERSION, ...shown, savedMs: Date.now(), writer };
    const same = stored?.id === this.id &&
      JSON.stringify({ ...stored, ...shown }) === JSON.stringify(stored);
    // What is only looked at is left to the tab that plays it.
    if (same) return write(TAB, { ...entry, ...stored }, this.session);
    this.seen = writer;
    write(TAB, { ...entry, id: this.id }, this.session);
    const kept = write(PREFIX + this.id, entry);
    if (kept) this.prune();
    return kept;
  }

  // The games that are kept, the latest first, this tab's among them. Damaged
  // entries, and those of a later version of the page, stay as they are.
  list(): KeptGame[] {
    return Object.keys(this.local ?? {})
      .filter((key) => key.startsWith(PREFIX))
      .map((key) => this.read(key.slice(PREFIX.length)))
      .filter((game) => game !== null)
      .sort((a, b) => b.savedMs - a.savedMs);
  }

  isCurrent(id: string): boolean {
    return id === this.id;
  }

  remove(id: string): void {
    this.local?.removeItem(PREFIX + id);
  }

  private read(id: string): KeptGame | null {
    return parse(id, readText(PREFIX + id));
  }

  private prune(): void {
    for (const { id } of this.list().slice(MOST)) {
      if (id !== this.id) this.remove(id);
    }
  }
}
