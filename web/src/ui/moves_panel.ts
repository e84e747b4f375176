// The actions of the game; pointing at one goes there.

import { h, replaceChildren, setAttribute } from './dom';
import type { IconName } from './icons';
import { button, card, iconButton } from './parts';
import { SIDE_CLASS } from './board/pieces';
import { commonLength, type Line, type Session } from './session';
import type { PlayedAction } from '../engine/api';

const MAX_SHOWN = 8; // actions of another line

export class MovesPanel {
  readonly element: HTMLElement;
  private readonly list = h('ol.moves');
  private shown: readonly PlayedAction[] = [];

  private readonly others = h('ul.other-lines');
  private shownOthers = '';

  constructor(
    private readonly goTo: (ply: number) => void,
    private readonly goToLine: (line: Line) => void,
    private readonly forgetLine: (line: Line) => void,
  ) {
    const jump = (name: IconName, label: string, ply: () => number) =>
      iconButton(name, label, () => this.goTo(ply()));
    this.element = card(
      'Actions',
      [
        h('h2', 'Actions'),
        h('span.buttons',
          jump('first', 'To the start of the game', () => 0),
          jump('last', 'To the last action', () => this.shown.length)),
      ],
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
      const label = fault === null ? null : `${entry.textContent}, ${fault}`;
      setAttribute(entry, 'data-fault', fault);
      setAttribute(entry, 'aria-label', label);
      setAttribute(entry, 'aria-current', here && 'step');
      entry.classList.toggle('later', i + 1 > ply);
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
      rows.length > 0 && h('li.faint', 'Other lines'),
      rows.map(({ line, from, text }) => {
        const name = `${from + 1} ${text}`;
        const label = [h('span.number', from + 1), ` ${text}`];
        const side = SIDE_CLASS[line[from]?.side ?? 0];
        return h('li',
          button('', label, () => this.goToLine(line), { class: side }),
          iconButton('close', 'Remove this line', () => this.forgetLine(line), {
            'aria-label': `Remove the line ${name}`,
          }));
      }),
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
    const added = actions.slice(same);
    this.list.append(...added.map((each, i) => this.entry(each, same + i + 1)));
  }

  // Scrolls the list alone: the page stays where it is.
  private scrollTo(entry: HTMLElement): void {
    const top = entry.offsetTop - this.list.offsetTop;
    const { scrollTop, clientHeight } = this.list;
    const isBelow = top + entry.offsetHeight > scrollTop + clientHeight;
    if (top < scrollTop || isBelow) this.list.scrollTop = top - clientHeight / 2;
  }

  private entry({ side, action }: PlayedAction, ply: number): HTMLElement {
    const label = [h('span.number', ply), ' ', action.notation];
    const goTo = (): void => this.goTo(ply);
    return h('li', button('', label, goTo, { class: SIDE_CLASS[side] }));
  }
}
