// Small helpers that make elements. No framework: views own the elements they
// make, and change them in place.

type Value = string | number | boolean | null | undefined;
type Listener = (event: never) => void;
export type Attributes = Readonly<Record<string, Value | Listener>>;
export type Child =
  | Node | string | number | null | undefined | false | readonly Child[];

// 'p' of 'p#note.faint'.
type NameOf<Tag extends string> =
  Tag extends `${infer Name}#${string}` ? Name
  : Tag extends `${infer Name}.${string}` ? Name
  : Tag;
type Tags = HTMLElementTagNameMap;
type SvgTags = SVGElementTagNameMap;

function isAttributes(part: Attributes | Child): part is Attributes {
  return (
    typeof part === 'object' && part !== null &&
    !(part instanceof Node) && !Array.isArray(part)
  );
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else if (typeof child === 'object') append(element, child);
    else element.append(String(child));
  }
}

function make(
  namespace: string,
  tag: string,
  parts: readonly (Attributes | Child)[],
): Element {
  const [name, ...marks] = tag.split(/(?=[#.])/);
  const element = document.createElementNS(namespace, name!);
  for (const mark of marks) {
    if (mark.startsWith('#')) element.id = mark.slice(1);
    else element.classList.add(mark.slice(1));
  }
  const [first, ...others] = parts;
  const hasAttributes = isAttributes(first);
  const attributes = hasAttributes ? first : {};
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(key, value as EventListener);
    } else if (key === 'class') {
      element.classList.add(...String(value).split(' ').filter(Boolean));
    } else {
      setAttribute(element, key, value);
    }
  }
  append(element, (hasAttributes ? others : parts) as Child[]);
  return element;
}

// Sets an attribute; false, null and undefined take it away, true is ''.
export function setAttribute(
  element: Element,
  name: string,
  value: Value,
): void {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
    return;
  }
  const text = value === true ? '' : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

// Makes an HTML element: h('p#note.faint', {role: 'status'}, 'Text'). Functions
// among the attributes are listeners.
export function h<Tag extends string>(
  tag: Tag,
  ...parts: [Attributes | Child, ...Child[]] | []
): Tags[NameOf<Tag> & keyof Tags] {
  return make('http://www.w3.org/1999/xhtml', tag, parts) as
    Tags[NameOf<Tag> & keyof Tags];
}

// Makes an SVG element.
export function s<Tag extends string>(
  tag: Tag,
  ...parts: [Attributes | Child, ...Child[]] | []
): SvgTags[NameOf<Tag> & keyof SvgTags] {
  return make('http://www.w3.org/2000/svg', tag, parts) as
    SvgTags[NameOf<Tag> & keyof SvgTags];
}

export function replaceChildren(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

// Sets a text, unless it is there already: screen readers would say it again.
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

// Returns an element of the page that must be there.
export function byId<E extends HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element #${id}`);
  return element as E;
}
