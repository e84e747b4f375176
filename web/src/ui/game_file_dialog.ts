// Games to go back to, and games and positions as text, links and pictures: to
// a file or the clipboard, and from them.

import { Dialog } from './dialog';
import { h, replaceChildren } from './dom';
import { button, download, iconButton } from './parts';
import { isBegun, outline, type KeptGame } from './kept_games';
import { linkTo } from './links';
import { levelName } from './players';
import { plural } from './words';
import { messageOf } from '../error';
import { shortText } from '../engine/short_text';
import type { App } from './app';

const WHEN = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

export class GameFileDialog {
  private readonly text = h('textarea#game-text', {
    rows: 8,
    spellcheck: 'false',
    'aria-label': 'The game as text',
    placeholder:
      'A game as saved here, a variant and its actions, a position, or a ' +
      'link:\nsacred_hill_l1 D4 E5 F3 …\n' +
      'four_treasures 5/7/7/2rb3/7/7/5 0',
  });
  private readonly note = h('p.note', { role: 'status' });
  private readonly setUp = h(
    'p.faint',
    'This game begins from a custom position. Its text is that position and ' +
      'the actions. This page, tara show, tara solve and tara review read it; ' +
      'JSON lines and game stores cannot represent it.',
  );
  private readonly copyLinkButton: HTMLButtonElement;
  private readonly kept = h('section.kept');
  // What is of the game, and hidden while a position is set up.
  private readonly ofGame: readonly HTMLElement[];
  private readonly file = h('input', {
    type: 'file',
    hidden: true,
    change: () => void this.readFile(),
  });
  private readonly dialog: Dialog;

  constructor(private readonly app: App) {
    const inShort = (): string => shortText(app.session.game);
    const position = (): string => app.session.position.text;
    this.copyLinkButton = button('link', 'Copy a link to the game', () =>
      this.copyLink(inShort()));
    const [short, alone, asLink, links] = (this.ofGame = [
      button('short', 'Short form', () => this.show(inShort())),
      button('position', 'Position only', () => this.show(position())),
      h('h3', 'As a link or a picture'),
      h('div.dialog-actions.start',
        this.copyLinkButton,
        button('link-position', 'Copy a link to this position', () =>
          this.copyLink(position())),
        button('picture', 'Save a picture of this position', () =>
          this.savePicture())),
    ] as const);
    this.dialog = new Dialog(
      'game-file',
      'Save and load',
      this.kept,
      asLink,
      links,
      this.note,
      h('h3', 'As text'),
      h('p',
        'One line of text holds the game. Keep it in a file, send it to ' +
          'somebody, or paste one here.'),
      this.setUp,
      this.text,
      this.file,
      h('div.dialog-actions',
        short,
        alone,
        button('copy', 'Copy', () => this.copy()),
        button('download', 'Save to a file', () => this.download()),
        button('paste', 'Paste', () => this.paste()),
        button('open', 'Open a file…', () => this.file.click()),
        button('load', 'Load this game', () => this.load(), {
          class: 'primary',
        })),
    );
  }

  async open(): Promise<void> {
    this.showNote('');
    this.showKept();
    const { editor, engine, session } = this.app;
    const edited = editor.isOpen ? editor.shown : null;
    for (const part of this.ofGame) part.hidden = edited !== null;
    this.setUp.hidden = edited !== null || session.game.start === null;
    this.text.value = edited ?? (await engine.saveGame());
    this.dialog.open(this.copyLinkButton); // what most people want
  }

  private showKept(): void {
    const { games } = this.app;
    const others = games.list().filter(
      ({ id, text }) => !games.isCurrent(id) && isBegun(text));
    this.kept.hidden = others.length === 0;
    replaceChildren(
      this.kept,
      h('h3', 'Recent games'),
      h('ul', others.map((kept) => this.row(kept.id, this.opener(kept)))),
    );
  }

  private row(id: string, content: HTMLElement): HTMLElement {
    const forgetters = (): HTMLElement[] =>
      [...this.kept.querySelectorAll<HTMLElement>('li > :last-child')];
    const forget = (event: MouseEvent): void => {
      const place = forgetters().indexOf(event.currentTarget as HTMLElement);
      this.app.games.remove(id);
      this.showKept();
      const next = forgetters()[place] ?? forgetters().at(-1);
      (next ?? this.dialog.element.querySelector('button'))?.focus();
    };
    return h('li', content, iconButton('close', 'Remove this game', forget));
  }

  private opener(kept: KeptGame): HTMLElement {
    const { variant, actions, isSetUp } = outline(kept.text);
    const { variants, levels } = this.app.engine.info;
    const name = variants.find(({ id }) => id === variant)?.name;
    const players = kept.players.map((id) => {
      const level = levels.find((each) => each.id === id);
      return level === undefined ? 'Person' : levelName(level);
    });
    const details = [
      plural(actions, 'action') + (isSetUp ? ' from a set-up position' : ''),
      players.join(' – '),
      kept.result,
      WHEN.format(kept.savedMs),
    ];
    const label = [
      h('strong', name ?? 'A game'),
      h('small', details.filter(Boolean).join(' · ')),
    ];
    return button('', label, () => this.goBack(kept), {
      class: 'kept-game',
      'data-kept': kept.id,
    });
  }

  private async goBack(kept: KeptGame): Promise<void> {
    try {
      await this.app.goBackTo(kept);
      this.dialog.close();
    } catch (error) {
      this.text.value = kept.text;
      this.showNote(
        `This game cannot be read: ${messageOf(error)}. Its text is above.`,
        true,
      );
    }
  }

  private showNote(note: string, isError = false): void {
    this.note.textContent = note;
    this.note.classList.toggle('error', isError);
    if (note !== '') this.note.scrollIntoView({ block: 'nearest' });
  }

  private show(text: string): void {
    this.text.value = text;
    this.text.select();
  }

  private async copyLink(text: string): Promise<void> {
    this.show(linkTo(text));
    await this.copy();
  }

  private async savePicture(): Promise<void> {
    const picture = await this.app.engine.picture();
    this.save('tara-position.svg', 'image/svg+xml', picture);
  }

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text.value);
      this.showNote('Copied.');
    } catch {
      this.text.select();
      this.showNote(
        'Your browser did not allow copying; press Ctrl+C to copy.',
      );
    }
  }

  private async paste(): Promise<void> {
    try {
      this.text.value = await navigator.clipboard.readText();
      this.showNote('');
    } catch {
      this.text.focus();
      this.showNote(
        'Your browser did not allow pasting; press Ctrl+V to paste.',
      );
    }
  }

  private download(): void {
    const text = `${this.text.value}\n`;
    const isJson = text.startsWith('{');
    const [end, type] =
      isJson ? ['json', 'application/json'] : ['txt', 'text/plain'];
    this.save(`tara-game.${end}`, type!, text);
  }

  private save(name: string, type: string, content: string): void {
    download(name, type, content);
    this.showNote('Saved.');
  }

  private async readFile(): Promise<void> {
    const file = this.file.files?.[0];
    this.file.value = '';
    if (file === undefined) return;
    this.text.value = await file.text();
    await this.load();
  }

  private async load(): Promise<void> {
    try {
      await this.app.loadGame(this.text.value.trim());
      this.dialog.close();
    } catch (error) {
      this.showNote(messageOf(error), true);
    }
  }
}
