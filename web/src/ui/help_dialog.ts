// The rules of the variant in short, and how to use the page.

import { Dialog } from './dialog';
import { h, replaceChildren } from './dom';
import { FAMILIES, rulesInShort } from './families';
import type { VariantInfo } from '../engine/api';

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓ ← →', 'walk over the hills'],
  ['Enter, Space', 'build, choose a king, choose where it goes'],
  ['. and ,', 'to the next or last hill with a legal action'],
  ['Esc', 'forget what was chosen'],
  ['U and R', 'undo and redo'],
  ['H', 'a hint'],
  ['M', 'map of the network’s policy'],
  ['O', 'map of who will own the hills'],
  ['P', 'pass, where that is legal'],
  ['N', 'new game'],
  ['?', 'this help'],
];

export class HelpDialog {
  private readonly rules = h('section', { class: 'rules' });
  private readonly dialog: Dialog;

  constructor() {
    this.dialog = new Dialog(
      'help',
      'Help',
      this.rules,
      h(
        'section',
        {},
        h('h3', {}, 'Keys'),
        h(
          'dl',
          { class: 'keys' },
          ...KEYS.flatMap(([key, what]) => [
            h('dt', {}, h('kbd', {}, key)),
            h('dd', {}, what),
          ]),
        ),
      ),
      h(
        'p',
        { class: 'faint' },
        'Tara is the design of Murray Heasman (Tailten Games). This page is ' +
          'independent research software, neither affiliated with nor ' +
          'endorsed by him or his company. Typefaces: Alegreya and Alegreya ' +
          'Sans by Juan Pablo del Peral (SIL Open Font License).',
      ),
    );
  }

  open(variant: VariantInfo): void {
    replaceChildren(
      this.rules,
      h('h3', {}, variant.name),
      h('p', { class: 'aim' }, FAMILIES[variant.family].aim),
      h('ul', {}, ...rulesInShort(variant).map((turn) => h('li', {}, turn))),
    );
    this.dialog.open();
  }
}
