// The results of a search of the position on the board, while it runs: the best
// three actions, each with its value and line. Also the result of the review
// for the action that was played here.

import { h, patch, setAttribute, setText } from './dom';
import { button, card, lineRow } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { guided } from './preferences';
import { analysisSentences, chanceOf, givenAwaySentence } from './words';
import type { App } from './app';
import type { SearchedAction, SearchProgress } from '../engine/api';

const MOST = 3; // actions
const LINE = 7; // actions of a line

// Returns the actions of a search that are shown, the best first.
export function bestActions({ actions }: SearchProgress): SearchedAction[] {
  return actions.filter(({ visits }) => visits > 0).slice(0, MOST);
}

export class AnalysisPanel {
  readonly element: HTMLElement;
  private readonly title = h('h2', 'Analysis');
  private readonly button: HTMLButtonElement;
  private readonly offers: HTMLElement; // to a newcomer
  private readonly mistake = h('p', { role: 'status' });
  private readonly list = h('ol.lines');
  private readonly words = h('p.legend');
  private readonly retry: HTMLElement;

  constructor(private readonly app: App) {
    this.button = button('analyse', 'Analyse', app.actions.analyse, {
      title: 'Search every position on the board (A)',
    });
    this.offers = h('div.offers',
      button('first-lesson', 'Learn in a minute', () => app.open(app.lesson), {
        class: 'primary',
      }),
      button('first-puzzle', 'Puzzle of the day', () => app.open(app.puzzle)));
    this.retry = button('try-again', 'Try again', () => app.tryAgain());
    this.element = card(
      'Analysis',
      [this.title, this.button, this.offers],
      h('div.mistake', this.mistake, this.retry),
      this.list,
      this.words,
    );
    this.element.classList.add('analysis');
  }

  render(): void {
    const { session } = this.app;
    const { analysis, analysing, mistake, position, evaluation, game } = session;
    setAttribute(this.button, 'aria-pressed', String(analysing));
    // Before the first action others are worth more.
    const isNew =
      guided() &&
      game.actions.length === 0 &&
      game.start === null &&
      analysis === null &&
      !analysing;
    this.title.textContent = isNew ? 'New here?' : 'Analysis';
    this.button.hidden = isNew;
    this.offers.hidden = !isNew;
    const text =
      session.tried ??
      (mistake === null
        ? ''
        : `${givenAwaySentence(game, mistake)} On the board, the cross marks ` +
          'the action played and the green ring the better one.');
    setText(this.mistake, text);
    this.mistake.parentElement!.hidden = text === '';
    this.retry.hidden = mistake === null;
    const isShown = analysing || analysis !== null;
    this.list.hidden = this.words.hidden = !isShown || position.finished;
    this.element.classList.toggle('open', isShown || text !== '');
    if (analysis === null || position.side === null) {
      this.show([], SIDE_CLASS[0]);
      this.words.textContent = position.finished ? '' : 'Searching …';
      return;
    }
    this.show(bestActions(analysis), SIDE_CLASS[position.side]);
    this.words.textContent = analysisSentences(analysis, evaluation).join(' ');
  }

  private show(best: readonly SearchedAction[], side: string): void {
    patch(this.list, Array.from({ length: MOST }, (_, i) => {
      const each = best[i];
      if (each === undefined) {
        const more = { class: 'line', disabled: true };
        return h('li', button('', '…', () => {}, more));
      }
      const { action, line, value } = each;
      const rest = line.slice(1, LINE).map(({ notation }) => notation);
      return lineRow(i + 1, action.notation, chanceOf(value), rest, {
        class: side,
        click: ({ detail }: MouseEvent) => {
          void this.app.session.play(action);
          // By a key: its row is hidden.
          if (detail === 0) this.app.board.focus();
        },
      });
    }));
  }
}
