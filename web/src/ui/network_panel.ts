// The network: its name and description, and ways to load another one, by a
// file input or by dropping a file anywhere.

import { h, replaceChildren } from './dom';
import { icon } from './icons';
import type { Game, NetworkInfo } from '../engine/api';
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
  private shown: readonly unknown[] = [];
  private readonly body = h('div', { class: 'network' });
  private readonly file = h('input', {
    type: 'file',
    id: 'bundle-file',
    accept: '.tara,.zip',
    hidden: true, // its button stands for it
    change: () => this.onFile(),
  });

  constructor(
    private readonly load: (file: File) => void,
    private readonly unload: () => void,
    private readonly verify: () => void,
  ) {
    this.element = h(
      'section',
      { class: 'card', 'aria-label': 'Network' },
      h('header', {}, h('h2', {}, 'Network')),
      this.body,
      this.file,
    );
  }

  render(
    network: NetworkInfo | null,
    { variant, options }: Game,
    loading: string | null,
  ): void {
    // What is as it was stays, with its focus and what is folded out.
    const unknown =
      network === null ? '' : notLearned(network.variants, variant, options);
    const shown = [network, unknown, loading];
    if (shown.every((part, i) => part === this.shown[i])) return;
    this.shown = shown;
    const hadFocus = this.body.contains(document.activeElement);
    replaceChildren(
      this.body,
      ...(loading !== null
        ? [h('p', { role: 'status' }, `Loading ${loading} …`)]
        : network === null
          ? [
              h(
                'p',
                {},
                'No network: the computer searches with random games. Drop ' +
                  'a model bundle (.tara) on this page to play against it.',
              ),
            ]
          : this.facts(network, unknown)),
      h(
        'div',
        { class: 'buttons' },
        h(
          'button',
          { type: 'button', click: () => this.file.click() },
          icon('file'),
          network === null ? 'Load a network…' : 'Load another network…',
        ),
        network !== null &&
          h(
            'button',
            { type: 'button', class: 'quiet', click: () => this.unload() },
            'Remove',
          ),
      ),
    );
    if (hadFocus) {
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
    return [
      h(
        'p',
        {},
        h('strong', { id: 'network-name' }, network.name),
        unknown === ''
          ? ''
          : ` has not learned ${unknown}: random games evaluate positions instead.`,
      ),
      h(
        'details',
        {},
        h('summary', {}, 'About this network'),
        h(
          'button',
          {
            type: 'button',
            'data-do': 'verify',
            title: 'Runs the golden positions of the bundle in this browser',
            click: () => this.verify(),
          },
          'Verify',
        ),
        h(
          'dl',
          { class: 'facts' },
          ...rows.flatMap(([name, value]) => [
            h('dt', {}, name),
            h('dd', {}, value),
          ]),
        ),
      ),
    ];
  }

  private onFile(): void {
    const file = this.file.files?.[0];
    this.file.value = '';
    if (file !== undefined) this.load(file);
  }
}

// Calls `load` with files that are dropped anywhere on the page.
export function acceptDrops(load: (file: File) => void): void {
  let depth = 0; // of elements that the pointer has entered
  const mark = (change: number): void => {
    depth = Math.max(0, depth + change);
    document.body.classList.toggle('dropping', depth > 0);
  };
  const hasFiles = (event: DragEvent): boolean =>
    event.dataTransfer?.types.includes('Files') ?? false;
  document.addEventListener('dragenter', (event) => {
    if (hasFiles(event)) mark(1);
  });
  document.addEventListener('dragleave', (event) => {
    if (hasFiles(event)) mark(-1);
  });
  document.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(-depth);
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) load(file);
  });
}
