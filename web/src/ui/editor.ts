// Sets up a position: ringforts, kings and bridges by pointing at hills, and
// below them the variant, its options, whose turn it is, and the phase. The
// rules are the engine's: it completes the position, or says why it cannot be.

import type { Marks } from './board/marks';
import { badge, SIDE_CLASS } from './board/pieces';
import { boardOf, lettersOf, placed, type Placed } from './board/drawing';
import { h, replaceChildren, setText } from './dom';
import {
  button, card, isForField, labelled, radio, select, setOptions,
} from './parts';
import { Latest } from '../latest';
import { textOfPasted } from './links';
import { messageOf } from '../error';
import type { App } from './app';
import { RuleOptionFields } from './rule_options';
import { hillContent, phaseName, standing } from './words';
import { optionsFromText, optionsToText } from '../engine/short_text';
import type {
  Action, Engine, Family, Game, HillIndex, Phase, Position, Side, VariantInfo,
} from '../engine/api';

interface Tool {
  readonly letter: string; // of section 12.2 of the rules; '.' vacant
  readonly name: string;
  readonly with?: (variant: VariantInfo) => boolean;
}

const hasKings = ({ family }: VariantInfo): boolean =>
  family === 'high_kings' || family === 'stone_of_destiny';
const hasStranded = ({ family, level }: VariantInfo): boolean =>
  family === 'high_kings' && level === 2;
const hasLinks = ({ family }: VariantInfo): boolean =>
  family === 'stone_of_destiny';

type Pair = readonly [HillIndex, HillIndex];

const LINK = '=';
const TOOLS: readonly Tool[] = [
  { letter: 'r', name: 'Red ringfort' },
  { letter: 'b', name: 'Blue ringfort' },
  { letter: 'R', name: 'Red king', with: hasKings },
  { letter: 'B', name: 'Blue king', with: hasKings },
  { letter: 'S', name: 'Stranded Red king', with: hasStranded },
  { letter: 'T', name: 'Stranded Blue king', with: hasStranded },
  { letter: LINK, name: 'Bridge', with: hasLinks },
  { letter: '.', name: 'Remove' },
];

// Under the sign of a tool: "Red stranded" for "Stranded Red king".
function shortName(name: string): string {
  return name.replace(/^Stranded (\w+) king/, '$1 stranded');
}

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
  private readonly engine: Engine;
  private variant: VariantInfo;
  private letters: string[] = [];
  private links = new Set<string>();
  private tool = 'r';
  // Kings captured, actions without progress, and the ending: of the text that
  // was shown, until something else is changed.
  private counts: readonly string[] = NO_COUNTS;
  private position: Position | null = null; // null: it cannot be, or is not known
  private readonly latest = new Latest(); // of the questions to the engine
  private answer = Promise.resolve(); // to the last question
  private readonly verdict = h('p.request', { role: 'status' });
  readonly bar = h('div.turn-bar.editor', this.verdict);
  private readonly tools = h('div.pills');
  private readonly variants: HTMLSelectElement;
  private readonly seats = select('To move', () => this.change());
  private readonly phases = select('Phase', () => this.change());
  private readonly options = new RuleOptionFields();
  private readonly text = h('input#editor-text', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'The position as text',
    change: () => {
      this.answer = this.takeText();
    },
  });
  private readonly textNote = h('p.note.error', { role: 'status' });
  private readonly uses: readonly HTMLButtonElement[];

  constructor(private readonly app: App) {
    this.engine = app.engine;
    const { variants } = app.engine.info;
    this.variant = variants[0]!;
    this.variants = select(
      'Variant',
      () => this.chooseVariant(),
      variants.map(({ id, name }) => [id, name]),
    );
    const use = (name: string, label: string, act: (text: string) => void) =>
      button(name, label, () => void this.use(act));
    this.uses = [
      use('play-position', 'Play from here', (text) =>
        app.playPosition(text, app.session.players, false)),
      use('analyse-position', 'Analyse', (text) =>
        app.playPosition(text, [], true)),
      use('link-position', 'Copy a link', (text) => app.copyLink(text)),
    ];
    this.uses[0]!.classList.add('primary');
    this.palette = h('fieldset.palette.editor',
      h('legend.visually-hidden', 'Piece to place'),
      this.tools);
    const row = (label: string, field: HTMLElement): HTMLElement =>
      h('label.row', h('span', label), field);
    this.options.element.addEventListener('change', () => this.change());
    this.panel = card(
      'The position',
      h('h2', 'Set up a position'),
      h('p.faint',
        'Choose a piece below the board, then click hills to place or remove ' +
          'it. By keyboard: digits choose a piece, arrow keys and Enter place ' +
          'it.'),
      row('Variant', this.variants),
      row('To move', this.seats),
      row('Phase', this.phases),
      this.options.element,
      h('div.dialog-actions.start',
        button('clear-board', 'Clear the board', () => this.clear())),
      h('label.text-label', { for: 'editor-text' }, 'As text'),
      this.text,
      this.textNote,
      h('div.dialog-actions.start',
        this.uses,
        button('cancel-position', 'Cancel', () => app.leave())),
      h('p.legend',
        'Play from here keeps the players of the last game. Analyse lets you ' +
          'move for every side.'),
    );
    this.panel.classList.add('editor');
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
    this.latest.drop();
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
    this.app.notices.announce(`${name}, ${hillContent(this.board, hill)}.`);
  }

  // Makes a bridge, or takes it away.
  play({ notation }: Action): void {
    if (!this.links.delete(notation)) this.links.add(notation);
    this.chosen = null;
    this.change();
    this.app.notices.announce(
      `${notation.replace('=', ' and ')}: ` +
        `${this.links.has(notation) ? 'a bridge' : 'no bridge'}.`,
    );
  }

  forget(): void {
    this.chosen = null;
    this.app.changed();
  }

  drag(): void {} // as by a slip of the mouse

  // What lies on top of the pieces: the bridges that may be made or taken away.
  marks(): Partial<Marks> {
    return {
      uses: new Map(this.board.hills.map((_, hill) => [hill, 'set'])),
      links: this.tool === LINK
        ? this.pairs().map((pair) => this.actionOf(...pair))
        : [],
      chosen: this.chosen,
      mover: SIDE_CLASS[this.side],
    };
  }

  // What is on each hill and what pointing at it would do, for screen readers.
  labels(): string[] {
    const tool = TOOLS.find(({ letter }) => letter === this.tool)!;
    const useOf = (letter: string): string => {
      const isVacant = letter === '.';
      if (this.tool === LINK) return isVacant ? '' : ', bridge from or to here';
      if (this.tool === '.') return isVacant ? '' : ', remove it';
      return letter === this.tool ? ', remove it' : `, place ${tool.name}`;
    };
    return this.engine.info.geometry.hills.map(({ name, index }) => {
      const content = hillContent(this.board, index);
      return `${name}, ${content}${useOf(this.letters[index]!)}`;
    });
  }

  private pointAtEnd(hill: HillIndex): void {
    const { chosen } = this;
    const pair = this.pairs().find((ends) =>
      chosen !== hill && ends.includes(chosen ?? -1) && ends.includes(hill));
    if (pair !== undefined) {
      this.play(this.actionOf(...pair));
      return;
    }
    this.chosen = chosen === hill || this.letters[hill] === '.' ? null : hill;
    this.app.changed();
  }

  // Adjacent ringforts of one side, in canonical order.
  private pairs(): Pair[] {
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
      tools.map(({ letter, name }, i) => {
        const input = radio('editor-tool', letter, letter === this.tool, {
          'aria-label': name,
          change: () => this.chooseTool(letter),
        });
        const label = h('span', toolSign(letter), shortName(name));
        const title = `${name} (${i + 1})`;
        return labelled(input, label, { class: 'pill', title });
      }),
    );
    const { seats, family } = this.variant;
    setOptions(this.seats, seats.map(({ index, name }) => [index, name]));
    const phases = PHASES[family];
    setOptions(this.phases, [
      [OPEN, 'From the board'],
      ...phases.map((phase) => [phase, phaseName({ phase })] as const),
    ]);
    this.phases.closest<HTMLElement>('.row')!.hidden = phases.length < 2;
    if (phases.length < 2) this.phases.value = OPEN;
  }

  private chooseTool(letter: string): void {
    this.tool = letter;
    this.chosen = null;
    for (const input of this.tools.querySelectorAll('input')) {
      input.checked = input.value === letter;
    }
    this.app.changed();
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
    const nameOf = (pair: Pair): string => this.actionOf(...pair).notation;
    const made = this.pairs().filter((pair) => this.links.has(nameOf(pair)));
    this.links = new Set(made.map(nameOf));
    const links = hasLinks(this.variant) ? made : undefined;
    this.board = placed(this.letters, geometry, links);
    this.answer = this.ask();
    this.app.changed();
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

  // Shows whose turn it is, or why the position cannot be.
  private async ask(): Promise<void> {
    this.position = null;
    let verdict: string;
    try {
      const answer = this.engine.completePosition(this.textNow());
      this.position = await this.latest.answer(answer);
      verdict = standing(this.variant, this.position);
    } catch (error) {
      verdict = `Not possible: ${reasonOf(error)}`;
    }
    this.text.value = this.shown;
    const { classList } = this.bar;
    classList.toggle('impossible', this.position === null);
    classList.toggle('red', this.position?.side === 0);
    classList.toggle('blue', this.position?.side === 1);
    setText(this.verdict, verdict);
    this.enable();
    this.app.changed();
  }

  private enable(): void {
    for (const each of this.uses) each.disabled = this.position === null;
  }

  // Shows the position that was typed or pasted.
  private async takeText(): Promise<void> {
    this.latest.drop();
    this.position = null; // the one on the board is no longer meant
    try {
      const text = textOfPasted(this.text.value);
      this.take(await this.latest.answer(this.engine.completePosition(text)));
      await this.answer; // to what that asks
    } catch (error) {
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
    const tool = this.toolsNow()[Number(event.key) - 1];
    if (!this.isOpen || tool === undefined) return;
    if (isForField(event, 'input:not([type="radio"]), textarea, select')) return;
    event.preventDefault();
    this.chooseTool(tool.letter);
    this.app.notices.announce(tool.name);
  }
}

// The sign of a tool.
function toolSign(letter: string): Element | null {
  if (letter === '.' || letter === LINK) return null;
  return badge('rRS'.includes(letter) ? 0 : 1, letter !== letter.toLowerCase());
}

// What is wrong, without where the engine's sentence begins.
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^impossible \w+ position: /, '');
}
