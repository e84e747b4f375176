// An opening book, from the page that `tara explore show --html` writes: its
// entry for the position that a game has come to.

import type { Game, VariantInfo } from '../engine/api';

// A transform of the board, and a shift of the seats, which only names need.
type Symmetry = readonly [transform: number, shift: number];

interface BookAction {
  readonly actions: readonly string[]; // the same by symmetries
  readonly winning: number | null;
  readonly line: readonly string[];
  readonly games: number;
  readonly next?: {
    readonly place: number;
    readonly symmetries: readonly Symmetry[]; // by action
  };
}

interface Place {
  readonly winning: number | null;
  readonly margin: number | null;
  readonly actions: readonly BookAction[];
}

// The report in the page; BookPage of tara/eval/book/book.cc.
interface Report {
  readonly book: string; // its file
  readonly variant: string;
  readonly options: Readonly<Record<string, number | boolean>>;
  readonly positions: number;
  readonly places: readonly (Place | null)[];
}

// All values are of the side to move, as shares.
export interface BookRow {
  readonly notation: string;
  readonly same: number; // actions that are the same by a symmetry
  readonly winning: number | null;
  readonly line: readonly string[]; // after the action
  readonly games: number; // of the book with this action
}

export interface BookEntry {
  readonly winning: number | null;
  readonly margin: number | null;
  readonly rows: readonly BookRow[]; // the best first
}

type Map = (hill: string) => string;

const DATA = /<script type="application\/json" id="report">(.*?)<\/script>/s;

// Bit 4 of a transform exchanges files and ranks, then 1 flips the files and 2
// the ranks.
function transformed(transform: number, hill: string): string {
  let file = hill.charCodeAt(0) - 65;
  let rank = Number(hill[1]) - 1;
  if (transform & 4) [file, rank] = [rank, file];
  if (transform & 1) file = 6 - file;
  if (transform & 2) rank = 6 - rank;
  return 'ABCDEFG'[file]! + (rank + 1);
}

// An action with its hills as `map` moves them; links name the southern or
// western hill first.
function mapped(action: string, map: Map): string {
  const moved = action.replace(/[A-G][1-7]/g, map);
  const order = (hill: string): string => hill[1]! + hill[0]!;
  const [from, to] = moved.split('=');
  if (to === undefined) return moved;
  return order(from!) < order(to) ? moved : `${to}=${from}`;
}

export class Book {
  private constructor(private readonly report: Report, readonly page: string) {}

  // Returns null if the text is not a report. Throws if it is a report without
  // openings.
  static read(text: string): Book | null {
    const found = DATA.exec(text)?.[1];
    if (found === undefined) return null;
    const report = JSON.parse(found) as Partial<Report>;
    const isBook = Array.isArray(report.places) && report.places[0] &&
      typeof report.variant === 'string';
    if (isBook) return new Book(report as Report, text);
    throw new Error(
      'this report has no opening book; expected a page written by tara ' +
      'explore show --html');
  }

  get name(): string {
    return this.report.book.split('/').at(-1)!;
  }

  get rules(): string {
    return `${this.variant} ${JSON.stringify(this.report.options)}`;
  }

  get variant(): string {
    return this.report.variant;
  }

  get positions(): number {
    return this.report.positions;
  }

  // Whether the book is of these rules.
  isOf(variant: VariantInfo, options: Game['options']): boolean {
    return variant.id === this.variant && variant.options.every(
      ({ name, defaultValue }) =>
        Number(this.report.options[name] ?? defaultValue) ===
        (options[name] ?? defaultValue));
  }

  // Returns what the book has on the position after these actions; null if
  // nothing. REQUIRES: isOf() of their game.
  entry(actions: readonly string[]): BookEntry | null {
    let at = 0;
    let map: Map = (hill) => hill; // from the book's board to the one shown
    for (const shown of actions) {
      const next = this.step(at, map, shown);
      if (next === null) return null;
      [at, map] = next;
    }
    const place = this.report.places[at];
    if (!place) return null;
    const show = (action: string): string => mapped(action, map);
    const rows = place.actions.map(({ actions, winning, line, games }) => ({
      notation: show(actions[0]!),
      same: actions.length,
      winning,
      line: line.slice(1).map(show),
      games,
    }));
    return { ...place, rows };
  }

  // The place after an action as it is shown, and its map; null if none.
  private step(at: number, map: Map, shown: string): [number, Map] | null {
    for (const { actions, next } of this.report.places[at]?.actions ?? []) {
      const i = actions.findIndex((each) => mapped(each, map) === shown);
      if (i < 0) continue;
      const symmetry = next?.symmetries[i];
      if (next === undefined || symmetry === undefined) return null;
      return [next.place, (hill) => map(transformed(symmetry[0], hill))];
    }
    return null;
  }
}
