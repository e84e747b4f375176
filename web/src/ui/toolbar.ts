// The buttons under the board.

import type { App } from './app';
import type { ActionKind } from '../engine/api';
import { h, patch, type Attributes } from './dom';
import { icon, type IconName } from './icons';
import { button } from './parts';

export interface ToolbarState {
  readonly undo: boolean;
  readonly redo: boolean;
  readonly hint: boolean;
  readonly heat: boolean;
  readonly owners: boolean;
  readonly maps: boolean; // maps are possible: during the game
  readonly pass: ActionKind | 'none'; // pass or swap, if legal for a person
  readonly computer: 'none' | 'plays' | 'waits';
  readonly network: boolean; // judges the position on the board
}

// What the maps over the board show: with a network, and without one.
const LEGENDS = {
  heat: [
    'where the network would play at first sight, before any search, in ' +
      'percent.',
    'without a network, all legal actions are equal.',
  ],
  owners: [
    'whose ringfort the network expects on a hill at the end; the larger ' +
      'the mark, the surer.',
    'only a network predicts who will own the hills.',
  ],
} as const;

export class Toolbar {
  readonly element = h('div.toolbar', { role: 'group', 'aria-label': 'Game' });
  readonly legends = h('div.legends', { role: 'status' });

  constructor(private readonly app: App) {}

  render(state: ToolbarState): void {
    const waits = state.computer === 'waits';
    const isSwap = state.pass === 'swap';
    const map = (name: 'heat' | 'owners', label: string, key: string) =>
      this.button(name, label, key, {
        disabled: !state.maps,
        'aria-pressed': String(state[name]),
      });
    const focused = document.activeElement;
    patch(
      this.element,
      this.button('undo', 'Undo', 'U', { disabled: !state.undo }),
      this.button('redo', 'Redo', 'R', { disabled: !state.redo }),
      this.button('pauseOrResume', waits ? 'Continue' : 'Pause', '', {
        hidden: state.computer === 'none',
        class: waits && 'primary',
      }, waits ? 'resume' : 'pause'),
      this.button('pass', isSwap ? 'Swap' : 'Pass', 'P', {
        hidden: state.pass === 'none',
      }),
      this.button('hint', 'Hint', 'H', { disabled: !state.hint }),
      map('heat', 'Policy', 'M'),
      map('owners', 'Owners', 'O'),
    );
    patch(this.legends, (['heat', 'owners'] as const).map((map) =>
      state[map] && h('p',
        h('strong', map === 'heat' ? 'Policy: ' : 'Owners: '),
        LEGENDS[map][state.network ? 0 : 1])));
    const isOwn = this.element.contains(focused);
    const isOut = isOwn && focused!.matches(':disabled, [hidden]');
    if (isOut) this.app.board.focus();
  }

  private button(
    name: IconName & keyof App['actions'] | 'pauseOrResume',
    label: string,
    key: string,
    more: Attributes,
    picture = name as IconName,
  ): HTMLElement {
    const title = key === '' ? label : `${label} (${key})`;
    const content = [icon(picture), h('span', label)];
    return button(name, content, this.app.actions[name], { title, ...more });
  }
}
