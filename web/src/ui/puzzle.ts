// The puzzle of the day of each variant: an endgame in which one action alone
// keeps the win, and so again at the next decision or two. `tara puzzles` finds
// them.

import address from '../../puzzles.txt?url';
import { SIDE_CLASS } from './board/pieces';
import { h, setText } from './dom';
import type { App } from './app';
import { Exercise } from './exercise';
import { button, select, setOptions } from './parts';
import { fieldsOf, readText, write } from './storage';
import { resultSentence, seatName, SIDE_NAMES } from './words';
import type { Action, Side } from '../engine/api';
import { fetchFile } from '../engine/fetching';

export interface Puzzle {
  readonly position: string; // as text
  readonly line: readonly string[]; // the solution, with the best replies
}

const FIELDS = 9; // of a position as text
const KEY = 'tara.puzzles';
const DAY_MS = 86_400_000;
const REPLY = { simulations: 800, seed: 1 };

// Returns the puzzles of a file by the ids of their variants.
export function readPuzzles(text: string): Map<string, Puzzle[]> {
  const puzzles = new Map<string, Puzzle[]>();
  for (const line of text.trim().split('\n')) {
    const words = line.split(' ');
    const position = words.slice(0, FIELDS).join(' ');
    const all = puzzles.get(words[0]!) ?? [];
    puzzles.set(words[0]!, [...all, { position, line: words.slice(FIELDS) }]);
  }
  return puzzles;
}

// Returns the number of the present day at this place, from 1970 on.
function today(): number {
  const now = new Date();
  return Math.floor(now.getTime() / DAY_MS - now.getTimezoneOffset() / 1440);
}

function nameOf(day: number): string {
  return new Date(day * DAY_MS).toLocaleDateString(
    'en', { day: 'numeric', month: 'long', timeZone: 'UTC' });
}

export class PuzzleOfTheDay extends Exercise {
  private puzzles = new Map<string, Puzzle[]>(); // by variant
  private day = today();
  private errors = 0; // wrong actions so far
  private isWaiting = false; // for the person
  private wrongAt: number | null = null; // the ply of a wrong action, on the board
  private told: readonly [who: string, what: string] | null = null;
  private readonly title = h('h2');
  private readonly results = h('p.faint');
  private readonly choice = select('Variant of the puzzle', () => {
    const id = this.choice.value;
    this.variant = this.engine.info.variants.find((each) => each.id === id)!;
    void this.goTo(today());
  });

  constructor(app: App) {
    super(app, 'Puzzle');
    this.card.append(
      h('header', this.title),
      this.choice,
      h('p',
        'One action alone keeps the win, two or three times in a row. Every ' +
          'day has a new puzzle for each variant.'),
      this.results,
    );
  }

  get personToMove(): boolean {
    return this.isWaiting;
  }

  protected async begin(): Promise<void> {
    if (this.puzzles.size === 0) {
      this.puzzles = readPuzzles(await (await fetchFile(address)).text());
    }
    await this.goTo(today());
  }

  private get all(): readonly Puzzle[] {
    return this.puzzles.get(this.variant.id)!;
  }

  private get puzzle(): Puzzle {
    return this.all[this.day % this.all.length]!;
  }

  private async goTo(day: number): Promise<void> {
    this.day = day;
    this.errors = 0;
    await this.goBack(0);
  }

  // Puts the position after so many actions of the solution on the board.
  private async goBack(ply: number): Promise<void> {
    const { position, line } = this.puzzle;
    this.chosen = this.wrongAt = this.told = null;
    this.isWaiting = false;
    await this.put(position);
    for (const notation of line.slice(0, ply)) await this.playOn(notation);
    this.isWaiting = true;
    this.render();
  }

  protected async try({ notation }: Pick<Action, 'notation'>): Promise<void> {
    const { line } = this.puzzle;
    this.isWaiting = false;
    if (notation !== line[this.game!.ply]) {
      ++this.errors;
      await this.refute(notation);
      return;
    }
    // The action, the reply, and what either side is forced to play.
    do {
      await this.playOn(line[this.game!.ply]!);
      this.told = ['Right', `${notation} is the only action.`];
      this.render();
      await this.latest.answer(
        new Promise((resolve) => setTimeout(resolve, this.app.paceMs)));
    } while (!this.isToChoose());
    const { ply, position } = this.game!;
    this.isWaiting = ply < line.length;
    this.told = null;
    if (!this.isWaiting) {
      const { finished, score } = position;
      const end = finished ? `${resultSentence(score)}.` : 'The win is safe now.';
      this.told = ['Solved', end];
      this.keepResult();
    }
    this.render();
  }

  private isToChoose(): boolean {
    const { ply, position: { side, legal } } = this.game!;
    const isEnd = ply === this.puzzle.line.length;
    return isEnd || (side === this.side && legal.length > 1);
  }

  // Whom the puzzle is for.
  private get side(): Side {
    return (Number(this.puzzle.position.split(' ')[2]) % 2) as Side;
  }

  // Shows what is wrong with an action: the reply, or the end of the game.
  private async refute(notation: string): Promise<void> {
    this.wrongAt = this.game!.ply;
    await this.playOn(notation);
    this.told = [notation, 'searching …'];
    this.render();
    const { position } = this.game!;
    if (position.finished) {
      this.told = ['Wrong', `The game ends: ${resultSentence(position.score)}.`];
    } else {
      const request = { ...REPLY, position: position.text };
      const found =
        await this.latest.answer(this.engine.search(request).result);
      await this.playOn(found.action.notation);
      const other = this.side === 0 ? 1 : 0;
      const won = (other === 0 ? 1 : -1) * found.redValue > 0.5;
      this.told = [
        'Wrong',
        `After ${notation}, ${SIDE_NAMES[other]} ${won ? 'wins' : 'draws'} ` +
          `with ${found.action.notation}.`,
      ];
    }
    this.render();
  }

  private showAnswer(): void {
    if (!this.isWaiting) return; // clicked twice
    ++this.errors;
    const notation = this.puzzle.line[this.game!.ply]!;
    this.try({ notation }).catch((error) => this.app.failed(error));
  }

  // The wrong actions before the solution, by variant and day.
  private get solved(): Readonly<Record<string, unknown>> {
    return fieldsOf(readText(KEY));
  }

  // Days from which the puzzles come again are forgotten.
  private keepResult(): void {
    const kept = Object.entries(this.solved).filter(
      ([key]) => Number(key.split(' ')[1]) > today() - this.all.length);
    const key = `${this.variant.id} ${this.day}`;
    write(KEY, { [key]: this.errors, ...Object.fromEntries(kept) });
  }

  // The latest day before this one whose puzzle is not solved; null: none.
  private next(): number | null {
    const { solved, variant, day } = this;
    const days = this.all.map((_, i) => day - i).slice(1);
    return days.find((each) => !(`${variant.id} ${each}` in solved)) ?? null;
  }

  private render(): void {
    const { game, side, wrongAt, isWaiting } = this;
    const { position, variant } = game!;
    const [who, what] = this.told ?? [
      `${seatName(variant, position.seat!)} to move`,
      'Find the only action that keeps the win.',
    ];
    SIDE_CLASS.forEach((name, i) => this.bar.classList.toggle(name, i === side));
    this.showBar('Puzzle', who, what);
    this.renderCard();
    const next = this.next();
    this.showTools(
      button('puzzle-leave', 'Leave the puzzle', () => this.app.leave()),
      isWaiting && button('puzzle-show', 'Show it', () => this.showAnswer()),
      next !== null && button('puzzle-next', 'Next puzzle', () => void this.goTo(next)),
      wrongAt !== null && button(
        'puzzle-again', 'Try again', () => void this.goBack(wrongAt), { class: 'primary' }),
    );
    this.app.changed();
  }

  private renderCard(): void {
    const { solved, variant } = this;
    const now = today();
    setOptions(this.choice, this.engine.info.variants.map(({ id, name }) =>
      [id, `${name}${`${id} ${now}` in solved ? ' ✓' : ''}`]));
    this.choice.value = variant.id;
    setText(this.title, `Puzzle of ${nameOf(this.day)}`);
    const results = Object.entries(solved)
      .filter(([key]) => key.startsWith(`${variant.id} `));
    const clean = results.filter(([, errors]) => errors === 0).length;
    setText(this.results, results.length === 0
      ? 'You have not solved any of this variant yet.'
      : `You have solved ${results.length} of this variant, ${clean} of them ` +
        'without an error.');
  }
}
