// What the actions of each side gave away, the worst first; pointing at one
// shows it on the board.

import { h, patch, type Child } from './dom';
import { button } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { faultOf, type GivenAway, type ReviewState } from './review';
import type { App } from './app';
import { SIDE_NAMES } from './words';
import type { Side } from '../engine/api';

export class ReviewPanel {
  readonly element = h('section#review.card', { 'aria-label': 'Review' });

  constructor(private readonly app: App) {}

  render(): void {
    const { session } = this.app;
    const { state, side } = session.review;
    const found = state.kind === 'done' ? state.found : [];
    const group = { role: 'group', 'aria-label': 'Whose mistakes' };
    const sides = ([0, 1] as const).filter((each) => (side ?? each) === each);
    this.element.hidden = session.game.actions.length === 0;
    this.element.dataset.state = state.kind;
    patch(
      this.element,
      h('header',
        h('h2', 'Mistakes'),
        button('review', state.kind === 'running' ? 'Stop' : 'Review',
          () => session.reviewOrStop())),
      h('p.legend', { role: 'status' }, inWords(state)),
      h('div.buttons.sides', { ...group, hidden: found.length === 0 },
        ([null, 0, 1] as const).map((each) => this.sideButton(each))),
      h('div.review', sides.map((each) => this.ofSide(each, found))),
    );
  }

  private sideButton(side: Side | null): HTMLElement {
    const { review } = this.app.session;
    const lookAt = (): void => {
      review.side = side;
      this.app.changed();
    };
    return button('', side === null ? 'Both sides' : SIDE_NAMES[side], lookAt, {
      'data-side': side ?? 'both',
      'aria-pressed': String(side === review.side),
    });
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
