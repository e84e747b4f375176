// The actions of the game; pointing at one goes there.

import { h } from './dom';
import { icon, type IconName } from './icons';
import { SIDE_CLASS } from './board/pieces';
import type { Session } from './session';
import type { PlayedAction } from '../engine/api';

export class MovesPanel {
  readonly element: HTMLElement;
  private readonly list = h('ol', { class: 'moves' });
  private shown: readonly PlayedAction[] = [];

  constructor(private readonly goTo: (ply: number) => void) {
    const jump = (name: IconName, label: string, ply: () => number) =>
      h(
        'button',
        {
          class: 'quiet',
          type: 'button',
          title: label,
          'aria-label': label,
          click: () => this.goTo(ply()),
        },
        icon(name),
      );
    this.element = h(
      'section',
      { class: 'card', 'aria-label': 'Actions' },
      h(
        'header',
        {},
        h('h2', {}, 'Actions'),
        h(
          'span',
          { class: 'buttons' },
          jump('first', 'To the start of the game', () => 0),
          jump('last', 'To the last action', () => this.shown.length),
        ),
      ),
      this.list,
    );
  }

  render(session: Session): void {
    const { actions, ply } = session.game;
    this.show(actions);
    const entries = this.list.querySelectorAll('button');
    entries.forEach((entry, i) => {
      const here = i + 1 === ply;
      entry.classList.toggle('later', i + 1 > ply);
      if (here) entry.setAttribute('aria-current', 'step');
      else entry.removeAttribute('aria-current');
      if (here) this.scrollTo(entry);
    });
    this.element.classList.toggle('empty', actions.length === 0);
  }

  // What is in the list already stays there, with its focus.
  private show(actions: readonly PlayedAction[]): void {
    const { shown } = this;
    this.shown = actions;
    const differs = actions.findIndex(
      ({ action, seat, side }, i) =>
        action.notation !== shown[i]?.action.notation ||
        seat !== shown[i].seat ||
        side !== shown[i].side,
    );
    const same = differs === -1 ? actions.length : differs;
    for (const entry of [...this.list.children].slice(same)) entry.remove();
    this.list.append(
      ...actions
        .slice(same)
        .map((played, i) => this.entry(played, same + i + 1)),
    );
  }

  // Scrolls the list alone: the page stays where it is.
  private scrollTo(entry: HTMLElement): void {
    const top = entry.offsetTop - this.list.offsetTop;
    const { scrollTop, clientHeight } = this.list;
    if (
      top < scrollTop ||
      top + entry.offsetHeight > scrollTop + clientHeight
    ) {
      this.list.scrollTop = top - clientHeight / 2;
    }
  }

  private entry(played: PlayedAction, ply: number): HTMLElement {
    return h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          class: SIDE_CLASS[played.side],
          click: () => this.goTo(ply),
        },
        h('span', { class: 'number' }, String(ply)),
        ' ',
        played.action.notation,
      ),
    );
  }
}
