// The actions of the game; pointing at one goes there.

import { h, replaceChildren, setAttribute } from './dom';
import { icon, type IconName } from './icons';
import { SIDE_CLASS } from './board/pieces';
import { commonLength, type Line, type Session } from './session';
import type { PlayedAction } from '../engine/api';

const MAX_SHOWN = 8; // actions of another line

export class MovesPanel {
  readonly element: HTMLElement;
  private readonly list = h('ol', { class: 'moves' });
  private shown: readonly PlayedAction[] = [];

  private readonly others = h('ul', { class: 'other-lines' });
  private shownOthers = '';

  constructor(
    private readonly goTo: (ply: number) => void,
    private readonly goToLine: (line: Line) => void,
    private readonly forgetLine: (line: Line) => void,
  ) {
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
      this.others,
    );
  }

  render(session: Session): void {
    const { actions, ply } = session.game;
    this.show(actions);
    const faults = session.faults();
    const entries = this.list.querySelectorAll('button');
    entries.forEach((entry, i) => {
      const here = i + 1 === ply;
      const fault = faults.get(i + 1) ?? null;
      setAttribute(entry, 'data-fault', fault);
      setAttribute(
        entry,
        'aria-label',
        fault === null ? null : `${entry.textContent}, ${fault}`,
      );
      entry.classList.toggle('later', i + 1 > ply);
      if (here) entry.setAttribute('aria-current', 'step');
      else entry.removeAttribute('aria-current');
      if (here) this.scrollTo(entry);
    });
    this.element.classList.toggle('empty', actions.length === 0);
    this.showOthers(session);
  }

  // The other lines of the game, from where they leave the one on the board.
  private showOthers({ others, game }: Session): void {
    const rows = others.map((line) => {
      const from = commonLength(line, game.actions);
      const names = line.slice(from).map(({ action }) => action.notation);
      const more = names.length > MAX_SHOWN ? ' …' : '';
      const text = `${names.slice(0, MAX_SHOWN).join(' ')}${more}`;
      return { line, from, text };
    });
    const shown = rows.map(({ from, text }) => `${from} ${text}`).join('\n');
    if (shown === this.shownOthers) return;
    this.shownOthers = shown;
    replaceChildren(
      this.others,
      rows.length > 0 && h('li', { class: 'faint' }, 'Other lines'),
      ...rows.map(({ line, from, text }) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              class: SIDE_CLASS[line[from]?.side ?? 0],
              click: () => this.goToLine(line),
            },
            h('span', { class: 'number' }, String(from + 1)),
            ` ${text}`,
          ),
          h(
            'button',
            {
              type: 'button',
              class: 'quiet',
              'aria-label': `Remove the line ${from + 1} ${text}`,
              title: 'Remove this line',
              click: () => this.forgetLine(line),
            },
            icon('close'),
          ),
        ),
      ),
    );
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
