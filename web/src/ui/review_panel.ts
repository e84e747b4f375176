// What the actions of each side gave away, the worst first; pointing at one
// shows it on the board.

import { h, patch, setText, type Child } from './dom';
import { button, card } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { faultOf, type GivenAway, type ReviewState } from './review';
import type { App } from './app';
import { SIDE_NAMES } from './words';
import type { Side } from '../engine/api';

export class ReviewPanel {
  readonly element: HTMLElement;
  private readonly words = h('p.legend', { role: 'status' });
  private readonly lists = h('div.review');
  private readonly button: HTMLButtonElement;
  private readonly sides = h('div.buttons.sides', {
    role: 'group',
    'aria-label': 'Whose mistakes',
  });

  constructor(private readonly app: App) {
    this.button =
      button('review', 'Review', () => app.session.reviewOrStop());
    this.element = card(
      'Review',
      [h('h2', 'Mistakes'), this.button],
      this.words,
      this.sides,
      this.lists,
    );
    this.element.id = 'review';
  }

  render(): void {
    const { session } = this.app;
    const { review } = session;
    const { state, side } = review;
    this.element.hidden = session.game.actions.length === 0;
    this.button.textContent = state.kind === 'running' ? 'Stop' : 'Review';
    this.element.dataset.state = state.kind;
    setText(this.words, inWords(state));
    const found = state.kind === 'done' ? state.found : [];
    this.sides.hidden = found.length === 0;
    patch(this.sides, ([null, 0, 1] as const).map((each) => {
      const name = each === null ? 'Both sides' : SIDE_NAMES[each];
      const lookAt = (): void => {
        review.side = each;
        this.app.changed();
      };
      return button('', name, lookAt, {
        'data-side': each ?? 'both',
        'aria-pressed': String(each === side),
      });
    }));
    const sides = ([0, 1] as const).filter((each) => (side ?? each) === each);
    patch(this.lists, sides.map((each) => this.ofSide(each, found)));
  }

  // Brings the panel into sight.
  show(): void {
    this.element.scrollIntoView({ block: 'center' });
  }

  private ofSide(side: Side, found: readonly GivenAway[]): Child {
    const own = found.filter(({ played }) => played.side === side);
    return own.length > 0 && [
      h('h3', { class: SIDE_CLASS[side] }, SIDE_NAMES[side]),
      h('ol.moves', own.map((each) => this.entry(each))),
    ];
  }

  private entry(found: GivenAway): HTMLElement {
    const { ply, played, better, lost } = found;
    const { notation } = played.action;
    const fault = faultOf(lost);
    const percent = `−${Math.round(100 * lost)} %`;
    const label =
      [h('span.number', ply + 1), ` ${notation} `, h('strong', percent)];
    return h('li', button('', label, () => this.app.showGivenAway(found), {
      class: SIDE_CLASS[played.side],
      'data-ply': ply,
      'data-fault': fault,
      'aria-label':
        `${ply + 1} ${notation} ${percent}, ${fault}; ` +
        `${better.notation} was better`,
    }));
  }
}

function inWords(state: ReviewState): string {
  switch (state.kind) {
    case 'none':
      return 'Find the moves that cost the most, and better ones.';
    case 'running':
      return `Searching: ${state.done} of ${state.total} positions.`;
    case 'done':
      return state.found.length === 0
        ? 'No action cost 5 % of winning or more.'
        : 'Actions that cost 5 % of winning or more, worst first. Choose one ' +
          'to see it on the board with the better action.';
  }
}
