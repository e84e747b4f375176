// The buttons under the board.

import type { ActionKind } from '../engine/api';
import { h, replaceChildren, setAttribute } from './dom';
import { icon, type IconName } from './icons';
import { button } from './parts';

export interface ToolbarActions {
  undo(): void;
  redo(): void;
  hint(): void;
  heat(): void;
  owners(): void;
  pass(): void;
  pauseOrResume(): void;
}

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
  private readonly buttons = new Map<keyof ToolbarActions, HTMLButtonElement>();
  private shownLegends = '';
  private shownWaits = false; // the computer's button is Continue, not Pause

  // `leave`: the button that has the focus cannot be pressed any more.
  constructor(
    actions: ToolbarActions,
    private readonly leave: () => void,
  ) {
    const add = (
      name: keyof ToolbarActions,
      picture: IconName,
      label: string,
      key: string,
    ): void => {
      const title = key === '' ? label : `${label} (${key})`;
      const content = [icon(picture), h('span', label)];
      const made = button(name, content, () => actions[name](), { title });
      this.buttons.set(name, made);
      this.element.append(made);
    };
    add('undo', 'undo', 'Undo', 'U');
    add('redo', 'redo', 'Redo', 'R');
    add('pauseOrResume', 'pause', 'Pause', '');
    add('pass', 'pass', 'Pass', 'P');
    add('hint', 'hint', 'Hint', 'H');
    add('heat', 'heat', 'Policy', 'M');
    add('owners', 'owners', 'Owners', 'O');
  }

  render(state: ToolbarState): void {
    const { buttons } = this;
    const focused = [...buttons.values()].find(
      (button) => button === document.activeElement,
    );
    this.show(state);
    if (focused?.disabled || focused?.hidden) this.leave();
  }

  private show(state: ToolbarState): void {
    const { buttons } = this;
    buttons.get('undo')!.disabled = !state.undo;
    buttons.get('redo')!.disabled = !state.redo;
    buttons.get('hint')!.disabled = !state.hint;
    const pass = buttons.get('pass')!;
    pass.hidden = state.pass === 'none';
    pass.lastElementChild!.textContent =
      state.pass === 'swap' ? 'Swap' : 'Pass';
    for (const map of ['heat', 'owners'] as const) {
      const button = buttons.get(map)!;
      button.disabled = !state.maps;
      setAttribute(button, 'aria-pressed', String(state[map]));
    }
    this.showLegends(state);
    const computer = buttons.get('pauseOrResume')!;
    computer.hidden = state.computer === 'none';
    const waits = state.computer === 'waits';
    computer.classList.toggle('primary', waits);
    // Kept while it stays the same: an element that is replaced between press
    // and release gets no click.
    if (waits === this.shownWaits) return;
    this.shownWaits = waits;
    replaceChildren(
      computer,
      icon(waits ? 'resume' : 'pause'),
      h('span', waits ? 'Continue' : 'Pause'),
    );
  }

  // Left alone while they stay the same, for screen readers.
  private showLegends(state: ToolbarState): void {
    const shown = (['heat', 'owners'] as const).filter((map) => state[map]);
    const key = `${shown.join()} ${state.network}`;
    if (key === this.shownLegends) return;
    this.shownLegends = key;
    const line = (map: 'heat' | 'owners') =>
      h('p',
        h('strong', map === 'heat' ? 'Policy: ' : 'Owners: '),
        LEGENDS[map][state.network ? 0 : 1]);
    replaceChildren(this.legends, shown.map(line));
  }
}
