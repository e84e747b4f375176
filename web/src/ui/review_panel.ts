// What the actions of the game gave away, the worst first; pointing at one goes
// to the position before it.

import { h, replaceChildren } from './dom';
import { SIDE_CLASS } from './board/pieces';
import { faultOf, type GivenAway, type ReviewState } from './review';
import type { Session } from './session';

export class ReviewPanel {
  readonly element: HTMLElement;
  private readonly words = h('p', { class: 'legend', role: 'status' });
  private readonly list = h('ol', { class: 'moves review' });
  private readonly button: HTMLButtonElement;
  private shown: ReviewState | null = null;

  constructor(
    start: () => void,
    private readonly goTo: (found: GivenAway) => void,
  ) {
    this.button = h(
      'button',
      { type: 'button', 'data-do': 'review', click: start },
      'Review',
    );
    this.element = h(
      'section',
      { class: 'card', id: 'review', 'aria-label': 'Review' },
      h('header', {}, h('h2', {}, 'Given away'), this.button),
      this.words,
      this.list,
    );
  }

  render(session: Session): void {
    const { state } = session.review;
    this.element.hidden = session.game.actions.length === 0;
    this.button.textContent = state.kind === 'running' ? 'Stop' : 'Review';
    if (state === this.shown) return;
    this.shown = state;
    this.element.dataset.state = state.kind;
    this.words.textContent = inWords(state);
    const found = state.kind === 'done' ? state.found : [];
    replaceChildren(this.list, ...found.map((each) => this.entry(each)));
  }

  private entry(found: GivenAway): HTMLElement {
    const { ply, played, better, lost } = found;
    const fault = faultOf(lost);
    const percent = `${Math.round(100 * lost)} %`;
    return h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          class: SIDE_CLASS[played.side],
          'data-ply': ply,
          'aria-label':
            `Action ${ply + 1}, ${played.action.notation}, ${fault}: gave ` +
            `away ${percent}; ${better.notation} was better`,
          click: () => this.goTo(found),
        },
        h('span', { class: 'number' }, String(ply + 1)),
        ` ${played.action.notation} `,
        h('strong', {}, `−${percent}`),
      ),
    );
  }
}

function inWords(state: ReviewState): string {
  switch (state.kind) {
    case 'none':
      return 'Which actions gave winning chances away, and what was better.';
    case 'running':
      return `Searching: ${state.done} of ${state.total} positions.`;
    case 'done':
      return state.found.length === 0
        ? 'No action gave 5 % of winning or more away.'
        : 'Chances of winning given away, from 5 %, the worst first. ' +
            'Point at one to see what was better.';
  }
}
