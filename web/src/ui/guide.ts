// The rule that the turn goes by, beside the board: for those who learn the
// game, until they hide it.

import { h, replaceChildren } from './dom';
import { ruleOfTurn } from './families';
import { icon } from './icons';
import { guided, setGuided } from './preferences';
import type { Session } from './session';

export class Guide {
  readonly element = h('div', { class: 'guide', role: 'note', hidden: true });
  private shown = '';

  // `help` opens the rules with their drawings.
  constructor(private readonly help: () => void) {}

  render(session: Session): void {
    const { game, position, personToMove } = session;
    const rule = personToMove ? ruleOfTurn(game.variant, position) : this.shown;
    const text = guided() && !position.finished ? rule : '';
    if (text === this.shown) return;
    this.shown = text;
    this.element.hidden = text === '';
    replaceChildren(
      this.element,
      h('p', {}, text),
      h(
        'button',
        { type: 'button', class: 'quiet', click: () => this.help() },
        'All rules, with pictures',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          'aria-label': 'Hide the rule of the turn',
          title: 'Hide (Help shows it again)',
          click: () => {
            setGuided(false);
            this.render(session);
          },
        },
        icon('close'),
      ),
    );
  }
}
