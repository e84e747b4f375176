// The network: its name and description, and ways to load another one, by a
// file input or by dropping a file anywhere.

import { h, patch } from './dom';
import { icon } from './icons';
import { button, card, definitions } from './parts';
import type { App } from './app';
import type { NetworkInfo } from '../engine/api';
import { notLearned } from '../engine/learned';

const NAMES_OF_IDS = /crc|seed|version/;

// A number as people write it: "257,113", "720.1"; other text as it is.
function legible(text: string): string {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(number) || !Number.isSafeInteger(Math.floor(number))) {
    return text;
  }
  const maximumFractionDigits = number < 10 ? 3 : 1;
  return number.toLocaleString('en', { maximumFractionDigits });
}

export class NetworkPanel {
  readonly element: HTMLElement;
  private readonly body = h('div.network');
  private readonly file = h('input#bundle-file', {
    type: 'file',
    accept: '.tara,.zip',
    hidden: true, // its button stands for it
    change: () => this.onFile(),
  });

  constructor(private readonly app: App) {
    this.element = card('Network', h('h2', 'Network'), this.body, this.file);
  }

  render(): void {
    const { network, loading, session } = this.app;
    const { variant, options } = session.game;
    const unknown =
      network === null ? '' : notLearned(network.variants, variant, options);
    const hadFocus = this.body.contains(document.activeElement);
    const other = network === null ? 'a' : 'another';
    const choose = (): void => this.file.click();
    patch(
      this.body,
      loading !== null
        ? h('p', { role: 'status' }, `Loading ${loading} …`)
        : network !== null
          ? this.facts(network, unknown)
          : h('p',
              'No network: the computer searches with random games. Drop ' +
                'a model bundle (.tara) on this page to play against it.'),
      h('div.buttons',
        button('', [icon('file'), `Load ${other} network…`], choose),
        network !== null &&
          button('', 'Remove', () => this.app.unloadNetwork(), {
            class: 'quiet',
          })),
    );
    if (hadFocus && !this.body.contains(document.activeElement)) {
      this.body.querySelector<HTMLElement>('.buttons button')!.focus();
    }
  }

  /** `unknown`: what of the game's rules it has not learned. */
  private facts(network: NetworkInfo, unknown: string): HTMLElement[] {
    const rows: (readonly [string, string])[] = [
      ...network.facts.map(
        ({ name, value }) =>
          [name, NAMES_OF_IDS.test(name) ? value : legible(value)] as const,
      ),
      ['weights', network.file],
      ['size', `${(network.bytes / 1e6).toFixed(1)} MB`],
    ];
    if (network.licence !== null) rows.push(['licence', network.licence]);
    const missing = unknown === ''
      ? ''
      : ` has not learned ${unknown}: random games evaluate positions instead.`;
    return [
      h('p', h('strong#network-name', network.name), missing),
      h('details',
        h('summary', 'About this network'),
        definitions('facts', rows),
        button('verify', 'Verify', () => void this.app.verifyNetwork(), {
          title: 'Evaluates the golden positions of the bundle in this browser',
        })),
    ];
  }

  private onFile(): void {
    const file = this.file.files?.[0];
    this.file.value = '';
    if (file !== undefined) void this.app.loadFile(file);
  }
}

// Calls `load` with files that are dropped anywhere on the page.
export function acceptDrops(load: (file: File) => void): void {
  const mark = (isOver: boolean): void =>
    void document.body.classList.toggle('dropping', isOver);
  const on = (type: 'dragenter' | 'dragleave' | 'dragover' | 'drop',
              act: (event: DragEvent) => void): void =>
    document.addEventListener(type, (event) => {
      if (event.dataTransfer?.types.includes('Files')) act(event);
    });
  on('dragenter', () => mark(true));
  on('dragleave', ({ relatedTarget }) => mark(relatedTarget !== null));
  on('dragover', (event) => event.preventDefault());
  on('drop', (event) => {
    event.preventDefault();
    mark(false);
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) load(file);
  });
}
