// Keys that work with any focus, except in fields for text.

import { isForField } from './parts';
import type { App } from './app';

type Actions = App['actions'];

const KEYS: Readonly<Record<string, keyof Actions>> = {
  u: 'undo',
  r: 'redo',
  h: 'hint',
  m: 'heat',
  o: 'owners',
  a: 'analyse',
  arrowleft: 'back',
  arrowright: 'forward',
  home: 'start',
  end: 'end',
  p: 'pass',
  n: 'newGame',
  '?': 'help',
};

// `isOn` says whether they work now.
export function listenToKeys(actions: Actions, isOn: () => boolean): void {
  document.addEventListener('keydown', (event) => {
    const name = KEYS[event.key.toLowerCase()];
    if (!isOn() || name === undefined) return;
    if (isForField(event, 'input, textarea, select')) return;
    event.preventDefault();
    actions[name]();
  });
}
