// Asks which of several actions is meant, as when a ringfort may be
// sacrificed.

import { Dialog } from './dialog';
import { h, replaceChildren } from './dom';
import type { Action } from '../engine/api';

// Returns the hill that an action of a king leads to: "C4" of "B2-C4*".
function goal({ notation }: Action): string {
  return notation.replace(/^.*-|\*$/g, '');
}

function label(action: Action): string {
  return action.kind === 'sacrifice'
    ? `Go to ${goal(action)} and sacrifice it`
    : `Go to ${goal(action)} and keep it`;
}

export class ChoiceDialog {
  since = 0; // Session.changes when it was opened
  private readonly dialog = new Dialog('choice', 'Sacrifice the ringfort?');

  constructor(private readonly choose: (action: Action) => void) {}

  ask(actions: readonly Action[], since: number): void {
    this.since = since;
    replaceChildren(
      this.dialog.body,
      h(
        'p',
        {},
        `If you sacrifice it, the ringfort on ${goal(actions[0]!)} becomes the ` +
          'enemy’s. The king on it cannot be captured in the next turn, and ' +
          'must then move away.',
      ),
      h(
        'div',
        { class: 'dialog-actions' },
        ...actions.map((action) =>
          h(
            'button',
            {
              type: 'button',
              'data-action': action.notation,
              click: () => {
                this.dialog.close();
                this.choose(action);
              },
            },
            label(action),
          ),
        ),
      ),
    );
    this.dialog.open();
  }

  close(): void {
    this.dialog.close();
  }
}
