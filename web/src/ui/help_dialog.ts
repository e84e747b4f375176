// The rules of the variant in short, and how to use the page.

import { Dialog } from './dialog';
import { h, replaceChildren } from './dom';
import { button, definitions, labelled } from './parts';
import { figure } from './board/drawing';
import { FAMILIES, rulesInShort, type Rule } from './families';
import { guided, setGuided } from './preferences';
import { otherRules } from './words';
import type { App } from './app';

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓ ← →', 'move between hills'],
  ['Enter, Space', 'build, choose a king, choose where it goes'],
  [
    '. and ,',
    'next or previous hill with a legal action; for a chosen king, its targets',
  ],
  ['Esc', 'cancel the choice'],
  ['U and R', 'undo and redo'],
  [
    '← and →',
    'one action back or forward, after a click or away from the board; Home ' +
    'and End: start and end',
  ],
  ['H', 'a hint'],
  ['A', 'analysis of every position on the board, on or off'],
  ['M', 'map of the network’s policy'],
  ['O', 'map of who will own the hills'],
  ['P', 'pass, if it is legal'],
  ['N', 'new game'],
  ['?', 'this help'],
];

const ASSISTANCE: readonly string[] = [
  'Hint: the best three actions by a search of up to 800 simulations (3 ' +
    'seconds), each with the chance to win and the expected line.',
  'Analyse: the same for every position on the board, with up to 8,000 ' +
    'simulations, until you turn it off. A different action from the one ' +
    'played begins another line; the game keeps both.',
  'Policy: where the network would play at first sight, before any search, ' +
    'in percent. A search may find better actions, so a hint can be an ' +
    'action with a low percentage.',
  'Owners: whose ringfort the network expects on each hill at the end.',
  'Course of the game: the chance to win after each action, and the lead in ' +
    'points. They are the network’s first guess, or the result of a search ' +
    'where Hint or Review has searched. A draw counts as half a win.',
];

// A link to a page next to this one (web/site), which stays open.
function ownPage(href: string, text: string): HTMLElement {
  return h('a', { href, target: '_blank', rel: 'noopener' }, text);
}

export class HelpDialog {
  private readonly rules = h('section.rules');
  private readonly guide = h('input', { type: 'checkbox' });
  private readonly dialog: Dialog;

  constructor(private readonly app: App) {
    this.guide.addEventListener('change', () => {
      setGuided(this.guide.checked);
      app.changed();
    });
    this.dialog = new Dialog(
      'help',
      'Help',
      h('p.offers',
        this.offer('Learn the game in a minute', 'lesson'),
        this.offer('Puzzle of the day', 'puzzle')),
      this.rules,
      labelled(this.guide, 'Show the rule of the turn next to the board', {
        class: 'choice',
      }),
      h('section.rules',
        h('h3', 'Hint, Policy, Owners, Course of the game'),
        h('ul', ASSISTANCE.map((line) => h('li', line)))),
      h('section',
        h('h3', 'Keys'),
        definitions('keys', KEYS.map(([key, what]) => [h('kbd', key), what]))),
      import.meta.env.MODE === 'site' &&
        h('p',
          ownPage('./rules.html', 'The rules in full'),
          ' · ',
          ownPage('./licences.txt', 'Licences')),
      h('p.faint',
        'Tara is the design of Murray Heasman (Tailten Games). This page is ' +
          'independent research software, neither affiliated with nor ' +
          'endorsed by him or his company. Typefaces: Alegreya and Alegreya ' +
          'Sans by Juan Pablo del Peral (SIL Open Font License).'),
    );
  }

  private offer(label: string, exercise: 'lesson' | 'puzzle'): HTMLElement {
    return button('', label, () => {
      this.dialog.close();
      void this.app.open(this.app[exercise]);
    });
  }

  open(): void {
    const { game } = this.app.session;
    const { variant } = game;
    const others = otherRules(game);
    const { aim } = FAMILIES[variant.family];
    this.guide.checked = guided();
    replaceChildren(
      this.rules,
      h('h3', variant.name),
      h('ul',
        this.entry(aim, 'aim'),
        rulesInShort(variant).map((rule) => this.entry(rule)),
        others !== '' && this.entry({ text: others }, 'aim')),
    );
    this.dialog.open();
  }

  private entry({ text, drawings = [] }: Rule, name = ''): HTMLElement {
    const { geometry } = this.app.engine.info;
    const figures = drawings.map((drawing) => figure(drawing, geometry));
    const words = h('p', text);
    return h('li', { class: name },
      figures.length === 0
        ? words
        : h('div.rule', words, h('div.drawings', figures)));
  }
}
