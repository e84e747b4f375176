// Small helpers that make elements. No framework: a view makes its elements
// once and changes them, or describes them each time and patches those there
// are.

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

// Listeners by type: what is patched takes over those of its new description.
const listeners = new WeakMap<Node, Map<string, EventListener>>();

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (child instanceof Node) return child;
    return typeof child === 'object' ? nodesOf(child) : String(child);
  });
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
  const own = new Map<string, EventListener>();
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      own.set(key, value as EventListener);
      element.addEventListener(key, (event) =>
        listeners.get(element)!.get(key)!(event));
    } else if (key === 'class') {
      element.classList.add(...String(value || '').split(' ').filter(Boolean));
    } else if (key === 'style') {
      // The page's policy forbids the attribute itself.
      (element as HTMLElement | SVGElement).style.cssText = String(value);
    } else {
      setAttribute(element, key, value);
    }
  }
  listeners.set(element, own);
  element.append(...nodesOf((hasAttributes ? others : parts) as Child[]));
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
  element.replaceChildren(...nodesOf(children));
}

// Makes the children of an element those that are described here, by changing
// the ones that are there. They keep the focus, and take a click that began
// before: an element that is replaced between press and release gets none.
export function patch(element: Element, ...children: Child[]): void {
  const wanted = nodesOf(children);
  wanted.forEach((next, i) => {
    const old = element.childNodes[i];
    if (old === undefined) element.append(next);
    else if (typeof next === 'string' && old instanceof Text) {
      if (old.data !== next) old.data = next;
    } else if (!(next instanceof Element) || !become(old, next)) {
      old.replaceWith(next);
    }
  });
  while (element.childNodes.length > wanted.length) element.lastChild!.remove();
}

// Gives an element the attributes, listeners and children of another one of the
// same kind. Returns false if it is of another kind.
function become(old: ChildNode, next: Element): boolean {
  const [had, has] = [old, next].map((node) => listeners.get(node));
  const isSame = old instanceof Element && old.nodeName === next.nodeName &&
    [...had!.keys()].join() === [...has!.keys()].join();
  if (!isSame) return false;
  const names = [old, next].flatMap((each) => each.getAttributeNames());
  for (const name of names) {
    if (name === 'open') continue; // of what people fold out
    if (name !== 'style') setAttribute(old, name, next.getAttribute(name));
  }
  const { style } = old as HTMLElement;
  const { cssText } = (next as HTMLElement).style;
  if (style.cssText !== cssText) style.cssText = cssText;
  listeners.set(old, has!);
  patch(old, ...[...next.childNodes].map((child) =>
    child instanceof Text ? child.data : child));
  return true;
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
