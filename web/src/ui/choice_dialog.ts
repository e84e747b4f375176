// Asks which of several actions is meant, as when a ringfort may be
// sacrificed.

import { Dialog } from './dialog';
import { h, replaceChildren } from './dom';
import { button } from './parts';
import type { App } from './app';
import type { Action } from '../engine/api';

export class ChoiceDialog {
  since = 0; // Session.changes when it was opened
  private readonly dialog = new Dialog('choice', 'Sacrifice the ringfort?');

  constructor(private readonly app: App) {}

  ask(actions: readonly Action[]): void {
    this.since = this.app.session.changes;
    // "C4" of "B2-C4*", where the king goes.
    const goal = actions[0]!.notation.replace(/^.*-|\*$/g, '');
    const choice = (action: Action): HTMLElement => {
      const fate = action.kind === 'sacrifice' ? 'sacrifice' : 'keep';
      const choose = (): void => {
        this.dialog.close();
        void this.app.onBoard.play(action);
      };
      return button('', `Go to ${goal} and ${fate} it`, choose, {
        'data-action': action.notation,
      });
    };
    replaceChildren(
      this.dialog.body,
      h('p',
        `If you sacrifice it, the ringfort on ${goal} becomes the enemy’s. ` +
          'The king on it cannot be captured in the next turn, and must then ' +
          'move away.'),
      h('div.dialog-actions', actions.map(choice)),
    );
    this.dialog.open();
  }

  close(): void {
    this.dialog.close();
  }
}
