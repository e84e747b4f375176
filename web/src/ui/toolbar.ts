// The buttons under the board.

import type { App } from './app';
import { h, patch, type Attributes } from './dom';
import { icon, type IconName } from './icons';
import { button } from './parts';

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

  render(): void {
    const { app } = this;
    const { session } = app;
    const { seat } = session.position;
    const pass = app.passAction();
    const waits = session.canResume;
    const maps = ['heat', 'owners'] as const;
    const labels = { heat: 'Policy', owners: 'Owners' };
    const isShown = (map: 'heat' | 'owners'): boolean =>
      app[map] && seat !== null;
    const step = (name: 'undo' | 'redo', label: string, by: -1 | 1) =>
      this.button(name, label, label[0]!, {
        disabled: session.plyOfStep(by) === null,
      });
    const focused = document.activeElement;
    patch(
      this.element,
      step('undo', 'Undo', -1),
      step('redo', 'Redo', 1),
      this.button('pauseOrResume', waits ? 'Continue' : 'Pause', '', {
        hidden: seat === null || session.isPerson(seat),
        class: waits && 'primary',
      }, waits ? 'resume' : 'pause'),
      this.button('pass', pass?.kind === 'swap' ? 'Swap' : 'Pass', 'P', {
        hidden: pass === undefined,
      }),
      this.button('hint', 'Hint', 'H', {
        disabled: !session.personToMove || session.thinking !== null,
      }),
      maps.map((map) =>
        this.button(map, labels[map], map === 'heat' ? 'M' : 'O', {
          disabled: seat === null, // the game is over
          'aria-pressed': String(isShown(map)),
        })),
    );
    const byNetwork = session.judgedBy === 'network';
    patch(this.legends, maps.map((map) => isShown(map) && h('p',
      h('strong', `${labels[map]}: `),
      LEGENDS[map][byNetwork ? 0 : 1])));
    const isOwn = this.element.contains(focused);
    const isOut = isOwn && focused!.matches(':disabled, [hidden]');
    if (isOut) app.board.focus();
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
