// The results of a search of the position on the board, while it runs: the best
// three actions, each with its value and line. Also the result of the review
// for the action that was played here.

import { h, patch } from './dom';
import { button, lineRow } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { guided } from './preferences';
import { analysisSentences, chanceOf, givenAwaySentence } from './words';
import type { App } from './app';
import type { Position, SearchedAction, SearchProgress } from '../engine/api';

const MOST = 3; // actions
const LINE = 7; // actions of a line

// Returns the actions of a search that are shown, the best first.
export function bestActions({ actions }: SearchProgress): SearchedAction[] {
  return actions.filter(({ visits }) => visits > 0).slice(0, MOST);
}

export class AnalysisPanel {
  readonly element = h('section.card.analysis', { 'aria-label': 'Analysis' });

  constructor(private readonly app: App) {}

  render(): void {
    const { app } = this;
    const { session } = app;
    const { analysis, analysing, mistake, position, evaluation, game } = session;
    const isShown = analysing || analysis !== null;
    // Before the first action others are worth more.
    const isNew = guided() && game.actions.length === 0 &&
      game.start === null && !isShown;
    const found = mistake &&
      `${givenAwaySentence(game, mistake)} On the board, the cross marks the ` +
        'action played and the green ring the better one.';
    const text = session.tried ?? found ?? '';
    const words = analysis === null
      ? ['Searching …'] : analysisSentences(analysis, evaluation);
    const hidden = !isShown || position.finished;
    this.element.classList.toggle('open', isShown || text !== '');
    patch(
      this.element,
      h('header',
        h('h2', isNew ? 'New here?' : 'Analysis'),
        button('analyse', 'Analyse', app.actions.analyse, {
          title: 'Search every position on the board (A)',
          'aria-pressed': String(analysing),
          hidden: isNew,
        }),
        h('div.offers', { hidden: !isNew },
          button('first-lesson', 'Learn in a minute',
            () => app.open(app.lesson), { class: 'primary' }),
          button('first-puzzle', 'Puzzle of the day',
            () => app.open(app.puzzle)))),
      h('div.mistake', { hidden: text === '' },
        h('p', { role: 'status' }, text),
        button('try-again', 'Try again', () => app.tryAgain(), {
          hidden: mistake === null,
        })),
      h('ol.lines', { hidden },
        this.rows(analysis === null ? [] : bestActions(analysis), position)),
      h('p.legend', { hidden }, words.join(' ')),
    );
  }

  private rows(
    best: readonly SearchedAction[],
    { side }: Position,
  ): HTMLElement[] {
    return Array.from({ length: MOST }, (_, i) => {
      const each = best[i];
      if (each === undefined || side === null) {
        const more = { class: 'line', disabled: true };
        return h('li', button('', '…', () => {}, more));
      }
      const { action, line, value } = each;
      const rest = line.slice(1, LINE).map(({ notation }) => notation);
      return lineRow(i + 1, action.notation, chanceOf(value), rest, {
        class: SIDE_CLASS[side],
        click: ({ detail }: MouseEvent) => {
          void this.app.session.play(action);
          // By a key: its row is hidden.
          if (detail === 0) this.app.board.focus();
        },
      });
    });
  }
}
