// What opening books have on the position on the board. Hidden until a book is
// opened.

import { Book, type BookEntry } from './book';
import { SIDE_CLASS } from './board/pieces';
import { h, patch } from './dom';
import { iconButton, lineRow } from './parts';
import { readBooks, removeBooks, writeBook } from './storage';
import { percent } from './words';
import type { App } from './app';
import type { Game } from '../engine/api';

const MOST = 5; // actions
const LINE = 5; // actions of a line

export class OpeningsPanel {
  readonly element =
    h('section#openings.card', { 'aria-label': 'Openings', hidden: true });
  private books: Book[] = [];

  constructor(private readonly app: App) {}

  private async close(): Promise<void> {
    await removeBooks(); // a reload finds none
    this.books = [];
    this.app.changed();
  }

  // A later book of the same rules takes the place of an earlier one.
  add(book: Book): void {
    this.books.unshift(book);
    void writeBook(book.rules, book.page);
    this.app.changed();
  }

  // Opens the books that were open at the last visit.
  async restore(): Promise<void> {
    for (const page of await readBooks()) {
      try {
        this.books.unshift(Book.read(page)!);
      } catch {
        // Another version of the page kept it.
      }
    }
  }

  // The book of the game's rules, if there is one.
  bookOf({ variant, options, start }: Game): Book | undefined {
    if (start !== null) return undefined;
    return this.books.find((book) => book.isOf(variant, options));
  }

  render(): void {
    this.element.hidden = this.books.length === 0;
    if (this.books.length === 0) return;
    const { session } = this.app;
    const { game } = session;
    const book = this.bookOf(game);
    const played = game.actions.slice(0, game.ply);
    const entry = book?.entry(played.map(({ action }) => action.notation));
    const { side } = game.position;
    const rows = (entry?.rows ?? []).slice(0, side === null ? 0 : MOST);
    const lines = rows.map((row, i) => {
      const { notation, same, winning, line, games } = row;
      const more = [
        same > 1 ? `×${same}` : '',
        games > 0 ? `${games.toLocaleString('en')} games` : '',
      ].filter(Boolean);
      const chance = winning === null ? '–' : percent(100 * winning);
      const last = more.length > 0 && h('small', more.join(' '));
      return lineRow(i + 1, notation, chance, line.slice(0, LINE), {
        class: SIDE_CLASS[side!],
        disabled: !session.isPerson(game.position.seat!) && !session.paused,
        click: () => this.app.playNamed(notation),
      }, last);
    });
    patch(
      this.element,
      h('header',
        h('h2', 'Openings'),
        iconButton('close', 'Close the books', () => void this.close())),
      h('p', { role: 'status' }, sentenceOf(book, entry ?? null, game)),
      h('ol.lines', lines),
    );
  }
}

function sentenceOf(
  book: Book | undefined,
  entry: BookEntry | null,
  { position, variant, ply }: Game,
): string {
  if (book === undefined) {
    return `No opened book is of these rules of ${variant.name}.`;
  }
  if (position.finished) return '';
  if (entry === null) {
    return ply === 0
      ? `${book.name} has no entry for the start.`
      : `${book.name} has no entry for this position.`;
  }
  const { winning, margin } = entry;
  const value = winning === null || margin === null
    ? 'not searched, games only'
    : `${percent(100 * winning)} for the side to move, by ` +
      `${margin.toFixed(1)} points`;
  return `${book.name}: ${value}.`;
}
