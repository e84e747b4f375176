// Elements that the panels and dialogs have in common.

import { h, replaceChildren, type Attributes, type Child } from './dom';
import { icon, type IconName } from './icons';

// `name` is the button's data-do, which tests use to find it; '' for none.
export function button(
  name: string,
  label: Child,
  click: (event: MouseEvent) => void,
  more: Attributes = {},
): HTMLButtonElement {
  const attributes = { type: 'button', 'data-do': name || null, click };
  return h('button', { ...attributes, ...more }, label);
}

// A button with an icon; the label is its tip, and what screen readers say.
export function iconButton(
  picture: IconName,
  label: string,
  click: (event: MouseEvent) => void,
  more: Attributes = {},
): HTMLButtonElement {
  const names = { class: 'quiet', title: label, 'aria-label': label };
  return button('', icon(picture), click, { ...names, ...more });
}

// A panel; the label is its name for screen readers.
export function card(
  label: string,
  header: Child,
  ...body: Child[]
): HTMLElement {
  return h('section.card', { 'aria-label': label }, h('header', header), body);
}

// A label with a radio button or a checkbox before its text.
export function labelled(
  input: HTMLInputElement,
  text: Child,
  more: Attributes = {},
): HTMLElement {
  return h('label', more, input, text);
}

export function radio(
  name: string,
  value: string,
  checked: boolean,
  more: Attributes = {},
): HTMLInputElement {
  return h('input', { type: 'radio', name, value, checked, ...more });
}

export function select(
  label: string,
  change: (value: string) => void,
  options: readonly (readonly [string | number, string])[] = [],
): HTMLSelectElement {
  const made = h('select', {
    'aria-label': label,
    change: ({ currentTarget }: Event) =>
      change((currentTarget as HTMLSelectElement).value),
  });
  setOptions(made, options);
  return made;
}

// Replaces the choices; keeps the choice, or changes it to `other`.
export function setOptions(
  field: HTMLSelectElement,
  options: readonly (readonly [string | number, string])[],
  other: string | number = options[0]?.[0] ?? '',
): void {
  const { value } = field;
  replaceChildren(
    field,
    options.map(([id, text]) => h('option', { value: id }, text)),
  );
  const isThere = options.some(([id]) => String(id) === value);
  field.value = isThere ? value : String(other);
}

// A table; the first cell of each row is its heading.
export function table(
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = (scope: string, text: Child) => h('th', { scope }, text);
  return h('table',
    h('thead', h('tr', heads.map((text) => head('col', text)))),
    h('tbody', rows.map(([first, ...cells]) =>
      h('tr', head('row', first), cells.map((cell) => h('td', cell))),
    )),
  );
}

// Names and what they mean.
export function definitions(
  className: string,
  rows: readonly (readonly [Child, Child])[],
): HTMLElement {
  return h('dl', { class: className },
    rows.map(([name, what]) => [h('dt', name), h('dd', what)]));
}

// An action in a list of the best ones, which plays it: its place, its value
// and the line after it.
export function lineRow(
  rank: number,
  notation: string,
  chance: string,
  line: readonly string[],
  more: Attributes,
  last: Child = null,
): HTMLElement {
  const content = [
    h('span.rank', rank),
    ' ',
    h('strong', notation),
    ' ',
    h('span.chance', chance),
    h('span.visually-hidden', ' to win, then '),
    h('span.rest', line.join(' ')),
    last,
  ];
  const attributes = { type: 'button', title: `Play ${notation}`, ...more };
  return h('li', h('button.line', attributes, content));
}

// Saves a text as a file.
export function download(name: string, type: string, content: BlobPart): void {
  const blob = new Blob([content], { type });
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Returns whether a key is meant for the field or dialog that has the focus, or
// for the browser.
export function isForField(event: KeyboardEvent, fields: string): boolean {
  const { target } = event;
  return (
    event.ctrlKey || event.metaKey || event.altKey ||
    (target instanceof HTMLElement &&
      (target.matches(fields) || target.closest('dialog') !== null))
  );
}
