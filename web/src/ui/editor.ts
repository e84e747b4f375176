// Sets up a position: ringforts, kings and bridges by pointing at hills, and
// below them the variant, its options, whose turn it is, and the phase. The
// rules are the engine's: it completes the position, or says why it cannot be.

import { badge } from './board/pieces';
import { boardOf, lettersOf, placed, type Placed } from './board/drawing';
import { h, replaceChildren, setAttribute } from './dom';
import { RuleOptionFields } from './rule_options';
import { hillContent, phaseName, standing } from './words';
import { optionsFromText, optionsToText } from '../engine/short_text';
import type {
  Action,
  Engine,
  Family,
  Game,
  HillIndex,
  Phase,
  Position,
  Side,
  VariantInfo,
} from '../engine/api';

export interface EditorEvents {
  changed(): void; // something needs drawing
  announce(sentence: string): void;
  // What a text that was pasted holds, a link say. Throws what is wrong.
  textOf(pasted: string): string;
  copyLink(text: string): void;
  play(text: string): void;
  analyse(text: string): void;
  cancel(): void;
}

interface Tool {
  readonly letter: string; // of section 12.2 of the rules; '.' vacant
  readonly name: string;
  readonly label: string; // under its sign
  readonly with?: (variant: VariantInfo) => boolean;
}

const hasKings = ({ family }: VariantInfo): boolean =>
  family === 'high_kings' || family === 'stone_of_destiny';
const hasStranded = ({ family, level }: VariantInfo): boolean =>
  family === 'high_kings' && level === 2;
const hasLinks = ({ family }: VariantInfo): boolean =>
  family === 'stone_of_destiny';

const LINK = '=';
const TOOLS: readonly Tool[] = [
  { letter: 'r', name: 'Red ringfort', label: 'Red ringfort' },
  { letter: 'b', name: 'Blue ringfort', label: 'Blue ringfort' },
  { letter: 'R', name: 'Red king', label: 'Red king', with: hasKings },
  { letter: 'B', name: 'Blue king', label: 'Blue king', with: hasKings },
  {
    letter: 'S',
    name: 'Stranded Red king',
    label: 'Red stranded',
    with: hasStranded,
  },
  {
    letter: 'T',
    name: 'Stranded Blue king',
    label: 'Blue stranded',
    with: hasStranded,
  },
  { letter: LINK, name: 'Bridge', label: 'Bridge', with: hasLinks },
  { letter: '.', name: 'Remove', label: 'Remove' },
];

const PHASES: Readonly<Record<Family, readonly Phase[]>> = {
  sacred_hill: ['manoeuvres', 'battle'],
  four_treasures: ['battle'],
  high_kings: ['placement', 'manoeuvres', 'battle'],
  poisoned_chalice: ['manoeuvres', 'battle'],
  stone_of_destiny: ['manoeuvres', 'battle', 'link'],
};

// What is left to the board (section 12.2).
const OPEN = '?';
const NO_COUNTS = [OPEN, OPEN, OPEN] as const;

export class Editor {
  isOpen = false;
  chosen: HillIndex | null = null; // the first hill of a bridge
  since = 0; // Session.changes when it was opened
  board: Placed = { hills: [], bridges: [] };
  readonly palette: HTMLFieldSetElement;
  readonly panel: HTMLElement;
  private variant: VariantInfo;
  private letters: string[] = [];
  private links = new Set<string>();
  private tool = 'r';
  // Kings captured, actions without progress, and the ending: of the text that
  // was shown, until something else is changed.
  private counts: readonly string[] = NO_COUNTS;
  private position: Position | null = null; // null: it cannot be, or is not known
  private asked = 0; // of the engine; answers to an earlier question are dropped
  private answer = Promise.resolve(); // to the last question
  private readonly verdict = h('p', { class: 'request', role: 'status' });
  readonly bar = h('div', { class: 'turn-bar editor' }, this.verdict);
  private readonly tools = h('div', { class: 'pills' });
  private readonly variants: HTMLSelectElement;
  private readonly seats = h('select', {
    'aria-label': 'To move',
    change: () => this.change(),
  });
  private readonly phases = h('select', {
    'aria-label': 'Phase',
    change: () => this.change(),
  });
  private readonly options = new RuleOptionFields();
  private readonly text = h('input', {
    type: 'text',
    id: 'editor-text',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'The position as text',
    change: () => {
      this.answer = this.takeText();
    },
  });
  private readonly textNote = h('p', { class: 'note error', role: 'status' });
  private readonly uses: readonly HTMLButtonElement[];

  constructor(
    private readonly engine: Engine,
    private readonly events: EditorEvents,
  ) {
    const { variants } = engine.info;
    this.variant = variants[0]!;
    this.variants = h(
      'select',
      { 'aria-label': 'Variant', change: () => this.chooseVariant() },
      ...variants.map(({ id, name }) => h('option', { value: id }, name)),
    );
    const button = (
      name: string,
      label: string,
      action: () => void,
      kind = '',
    ): HTMLButtonElement =>
      h(
        'button',
        { type: 'button', class: kind, 'data-do': name, click: action },
        label,
      );
    this.uses = [
      button(
        'play-position',
        'Play from here',
        () => void this.use(events.play),
        'primary',
      ),
      button(
        'analyse-position',
        'Analyse',
        () => void this.use(events.analyse),
      ),
      button(
        'link-position',
        'Copy a link',
        () => void this.use(events.copyLink),
      ),
    ];
    this.palette = h(
      'fieldset',
      { class: 'palette editor' },
      h('legend', { class: 'visually-hidden' }, 'Piece to place'),
      this.tools,
    );
    const row = (label: string, field: HTMLElement): HTMLElement =>
      h('label', { class: 'row' }, h('span', {}, label), field);
    this.options.element.addEventListener('change', () => this.change());
    this.panel = h(
      'section',
      { class: 'card editor', 'aria-label': 'The position' },
      h('header', {}, h('h2', {}, 'Set up a position')),
      h(
        'p',
        { class: 'faint' },
        'Choose a piece below the board, then click hills to place or remove ' +
          'it. By keyboard: digits choose a piece, arrow keys and Enter place ' +
          'it.',
      ),
      row('Variant', this.variants),
      row('To move', this.seats),
      row('Phase', this.phases),
      this.options.element,
      h(
        'div',
        { class: 'dialog-actions start' },
        button('clear-board', 'Clear the board', () => this.clear()),
      ),
      h('label', { class: 'text-label', for: 'editor-text' }, 'As text'),
      this.text,
      this.textNote,
      h(
        'div',
        { class: 'dialog-actions start' },
        ...this.uses,
        button('cancel-position', 'Cancel', () => events.cancel()),
      ),
      h(
        'p',
        { class: 'legend' },
        'Play from here keeps the players of the last game. Analyse lets you ' +
          'move for every side.',
      ),
    );
    document.addEventListener('keydown', (event) => this.onKey(event));
  }

  get side(): Side {
    return (Number(this.seats.value) % 2) as Side;
  }

  get rules(): Pick<Game, 'variant' | 'options'> {
    return { variant: this.variant, options: this.options.values() };
  }

  // The position on the board, as text.
  get shown(): string {
    return this.position?.text ?? this.textNow();
  }

  // Begins with a position of a game.
  open(game: Game, since: number): void {
    this.isOpen = true;
    this.since = since;
    this.tool = 'r';
    this.take(game.position);
  }

  close(): void {
    this.isOpen = false;
    ++this.asked;
    // Fields of forms have one place in the page at a time.
    replaceChildren(this.options.element.querySelector('.options')!);
  }

  // Places the chosen piece on a hill, or removes it if it is there already.
  pointAt(hill: HillIndex): void {
    if (this.tool === LINK) {
      this.pointAtEnd(hill);
      return;
    }
    this.chosen = null;
    const letter = this.letters[hill] === this.tool ? '.' : this.tool;
    this.letters[hill] = letter;
    this.change();
    const name = this.engine.info.geometry.hills[hill]!.name;
    this.events.announce(`${name}, ${hillContent(this.board, hill)}.`);
  }

  // Makes a bridge, or takes it away.
  toggleLink({ notation }: Action): void {
    if (!this.links.delete(notation)) this.links.add(notation);
    this.chosen = null;
    this.change();
    this.events.announce(
      `${notation.replace('=', ' and ')}: ` +
        `${this.links.has(notation) ? 'a bridge' : 'no bridge'}.`,
    );
  }

  forget(): void {
    this.chosen = null;
    this.events.changed();
  }

  // The bridges that may be made or taken away.
  linkActions(): Action[] {
    if (!this.isOpen || this.tool !== LINK) return [];
    return this.pairs().map(([from, to]) => this.actionOf(from, to));
  }

  // What is on each hill and what pointing at it would do, for screen readers.
  labels(): string[] {
    const tool = TOOLS.find(({ letter }) => letter === this.tool)!;
    return this.engine.info.geometry.hills.map(({ name, index }) => {
      const letter = this.letters[index]!;
      const use =
        this.tool === LINK
          ? letter === '.'
            ? ''
            : ', bridge from or to here'
          : letter === this.tool || (this.tool === '.' && letter !== '.')
            ? ', remove it'
            : this.tool === '.'
              ? ''
              : `, place ${tool.name}`;
      return `${name}, ${hillContent(this.board, index)}${use}`;
    });
  }

  private pointAtEnd(hill: HillIndex): void {
    const first = this.chosen;
    if (first === null || first === hill) {
      this.chosen = first === hill || this.letters[hill] === '.' ? null : hill;
      this.events.changed();
      return;
    }
    const pair = this.pairs().find(
      ([from, to]) =>
        (from === first && to === hill) || (from === hill && to === first),
    );
    if (pair === undefined) {
      this.chosen = this.letters[hill] === '.' ? null : hill;
      this.events.changed();
      return;
    }
    this.toggleLink(this.actionOf(...pair));
  }

  // Adjacent ringforts of one side, in canonical order.
  private pairs(): (readonly [HillIndex, HillIndex])[] {
    const { bridges } = placed(this.letters, this.engine.info.geometry);
    return bridges.map(({ from, to }) => [from, to] as const);
  }

  private actionOf(from: HillIndex, to: HillIndex): Action {
    const { hills } = this.engine.info.geometry;
    const notation = `${hills[from]!.name}=${hills[to]!.name}`;
    return { index: -1, notation, kind: 'link', from, to };
  }

  // Shows a position of the engine's.
  private take(position: Position): void {
    const { info } = this.engine;
    const [id, board, seat, phase, links, ...rest] = position.text.split(' ');
    this.variant = info.variants.find((variant) => variant.id === id)!;
    this.variants.value = this.variant.id;
    this.letters = lettersOf(board!, info.geometry);
    this.links = new Set(links === '-' ? [] : links!.split(','));
    this.counts = rest.slice(0, 3);
    this.options.show(this.variant, optionsFromText(rest[3]!));
    this.showChoices();
    this.seats.value = seat === '-' ? '0' : seat!;
    // A finished game is set up as if it continued.
    if (position.finished) this.counts = NO_COUNTS;
    this.phases.value = position.finished ? OPEN : phase!;
    this.update();
  }

  private chooseVariant(): void {
    const { variants } = this.engine.info;
    this.variant = variants.find(({ id }) => id === this.variants.value)!;
    const given = new Set(this.toolsNow().map(({ letter }) => letter));
    this.letters = this.letters.map((letter) => {
      // A ringfort stays where its king cannot.
      return given.has(letter) ? letter : 'RT'.includes(letter) ? 'r' : 'b';
    });
    this.options.show(this.variant);
    this.showChoices();
    this.change();
  }

  private toolsNow(): Tool[] {
    return TOOLS.filter((tool) => tool.with?.(this.variant) ?? true);
  }

  // The tools, seats and phases of the variant.
  private showChoices(): void {
    const tools = this.toolsNow();
    if (!tools.some(({ letter }) => letter === this.tool)) this.tool = 'r';
    replaceChildren(
      this.tools,
      ...tools.map(({ letter, name, label }, i) =>
        h(
          'label',
          { class: 'pill', title: `${name} (${i + 1})` },
          h('input', {
            type: 'radio',
            name: 'editor-tool',
            value: letter,
            checked: letter === this.tool,
            'aria-label': name,
            change: () => this.chooseTool(letter),
          }),
          h('span', {}, toolSign(letter), label),
        ),
      ),
    );
    const seat = this.seats.value;
    replaceChildren(
      this.seats,
      ...this.variant.seats.map(({ index, name }) =>
        h('option', { value: index }, name),
      ),
    );
    this.seats.value = seat;
    if (this.seats.value === '') this.seats.value = '0';
    const phases = PHASES[this.variant.family];
    const phase = this.phases.value;
    replaceChildren(
      this.phases,
      h('option', { value: OPEN }, 'From the board'),
      ...phases.map((name) => h('option', { value: name }, phaseName({ phase: name }))),
    );
    this.phases.value = phase;
    if (this.phases.value === '') this.phases.value = OPEN;
    this.phases.closest<HTMLElement>('.row')!.hidden = phases.length < 2;
    if (phases.length < 2) this.phases.value = OPEN;
  }

  private chooseTool(letter: string): void {
    this.tool = letter;
    this.chosen = null;
    for (const input of this.tools.querySelectorAll('input')) {
      input.checked = input.value === letter;
    }
    this.events.changed();
  }

  private clear(): void {
    this.letters = this.letters.map(() => '.');
    this.phases.value = OPEN;
    this.change();
  }

  private change(): void {
    this.counts = NO_COUNTS;
    this.update();
  }

  // Draws the board, and asks the engine about it.
  private update(): void {
    this.textNote.textContent = '';
    const { geometry } = this.engine.info;
    const pairs = this.pairs().map((pair) => this.actionOf(...pair));
    const made = pairs.filter(({ notation }) => this.links.has(notation));
    this.links = new Set(made.map(({ notation }) => notation));
    const ends = made.map(({ from, to }) => [from!, to!] as const);
    this.board = placed(
      this.letters,
      geometry,
      hasLinks(this.variant) ? ends : undefined,
    );
    this.answer = this.ask();
    this.events.changed();
  }

  private textNow(): string {
    return [
      this.variant.id,
      boardOf(this.letters, this.engine.info.geometry),
      this.seats.value,
      this.phases.value,
      [...this.links].join(',') || '-',
      ...this.counts,
      optionsToText(this.variant, this.options.values()),
    ].join(' ');
  }

  private async ask(): Promise<void> {
    const asked = ++this.asked;
    const text = this.textNow();
    this.position = null;
    try {
      const position = await this.engine.completePosition(text);
      if (asked !== this.asked) return;
      this.position = position;
      this.text.value = position.text;
      this.tell(standing(this.variant, position), '');
    } catch (error) {
      if (asked !== this.asked) return;
      this.text.value = text;
      this.tell('', reasonOf(error));
    }
    this.events.changed();
  }

  // Shows below the title whose turn it is, or why the position cannot be.
  private tell(state: string, reason: string): void {
    const { position } = this;
    const { classList } = this.bar;
    classList.remove('red', 'blue', 'impossible');
    if (position === null) classList.add('impossible');
    else if (position.side !== null) {
      classList.add(position.side === 0 ? 'red' : 'blue');
    }
    const sentence = position === null ? `Not possible: ${reason}` : state;
    if (this.verdict.textContent !== sentence) {
      this.verdict.textContent = sentence;
    }
    this.enable();
  }

  private enable(): void {
    for (const button of this.uses) {
      setAttribute(button, 'disabled', this.position === null);
    }
  }

  // Shows the position that was typed or pasted.
  private async takeText(): Promise<void> {
    const asked = ++this.asked;
    this.position = null; // the one on the board is no longer meant
    try {
      const text = this.events.textOf(this.text.value);
      const position = await this.engine.completePosition(text);
      if (asked !== this.asked) return;
      this.take(position);
      await this.answer; // to what that asks
    } catch (error) {
      if (asked !== this.asked) return;
      this.textNote.textContent = `This text is not a position: ${reasonOf(error)}`;
      this.enable();
    }
  }

  // The buttons are left as they are until the engine has answered: the press
  // that uses a text is also what ends its editing.
  private async use(action: (text: string) => void): Promise<void> {
    await this.answer;
    if (this.isOpen && this.position !== null) action(this.position.text);
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isField =
      target instanceof HTMLElement &&
      (target.matches('input:not([type="radio"]), textarea, select') ||
        target.closest('dialog') !== null);
    const tool = this.toolsNow()[Number(event.key) - 1];
    if (isField || tool === undefined) return;
    event.preventDefault();
    this.chooseTool(tool.letter);
    this.events.announce(tool.name);
  }
}

// The sign of a tool.
function toolSign(letter: string): Element | null {
  if (letter === '.' || letter === LINK) return null;
  return badge('rRS'.includes(letter) ? 0 : 1, letter !== letter.toLowerCase());
}

// What is wrong, without where the engine's sentence begins.
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^impossible \w+ position: /, '');
}
