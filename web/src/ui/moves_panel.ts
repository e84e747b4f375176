// The actions of the game; pointing at one goes there.

import { h, patch } from './dom';
import { button, card, iconButton } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { commonLength, type Line } from './session';
import type { App } from './app';

const MAX_SHOWN = 8; // actions of another line

export class MovesPanel {
  readonly element: HTMLElement;
  private readonly list = h('ol.moves');
  private readonly others = h('ul.other-lines');

  constructor(private readonly app: App) {
    const { start, end } = app.actions;
    this.element = card(
      'Actions',
      [
        h('h2', 'Actions'),
        h('span.buttons',
          iconButton('first', 'To the start of the game', start),
          iconButton('last', 'To the last action', end)),
      ],
      this.list,
      this.others,
    );
  }

  render(): void {
    const { session } = this.app;
    const { game: { actions, ply }, others } = session;
    const faults = session.faults();
    patch(this.list, actions.map(({ side, action: { notation } }, i) => {
      const at = i + 1;
      const fault = faults.get(at) ?? null;
      const label = [h('span.number', at), ' ', notation];
      return h('li', button('', label, () => this.app.goTo(at), {
        class: SIDE_CLASS[side] + (at > ply ? ' later' : ''),
        'data-fault': fault,
        'aria-label': fault && `${at} ${notation}, ${fault}`,
        'aria-current': at === ply && 'step',
      }));
    }));
    const here = this.list.querySelector<HTMLElement>('[aria-current]');
    if (here !== null) this.scrollTo(here);
    patch(
      this.others,
      others.length > 0 && h('li.faint', 'Other lines'),
      others.map((line) => this.otherLine(line, commonLength(line, actions))),
    );
  }

  // Another line of the game, from where it leaves the one on the board.
  private otherLine(line: Line, from: number): HTMLElement {
    const { session } = this.app;
    const names = line.slice(from).map(({ action }) => action.notation);
    const more = names.length > MAX_SHOWN ? ' …' : '';
    const text = ` ${names.slice(0, MAX_SHOWN).join(' ')}${more}`;
    const label = [h('span.number', from + 1), text];
    const side = SIDE_CLASS[line[from]?.side ?? 0];
    return h('li',
      button('', label, () => this.app.goToLine(line), { class: side }),
      iconButton('close', 'Remove this line', () => session.forgetLine(line), {
        'aria-label': `Remove the line ${from + 1}${text}`,
      }));
  }

  // Scrolls the list alone: the page stays where it is.
  private scrollTo(entry: HTMLElement): void {
    const top = entry.offsetTop - this.list.offsetTop;
    const { scrollTop, clientHeight } = this.list;
    const isBelow = top + entry.offsetHeight > scrollTop + clientHeight;
    if (top < scrollTop || isBelow) this.list.scrollTop = top - clientHeight / 2;
  }
}
