// Small helpers that make elements. No framework: views own the elements they
// make, and change them in place.

type Attribute = string | number | boolean | null | undefined;
type Listener = (event: never) => void;
export type Attributes = Record<string, Attribute | Listener>;
export type Child = Node | string | null | undefined | false;

function fill<E extends Element>(
  element: E,
  attributes: Attributes,
  children: Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value as EventListener);
    } else {
      setAttribute(element, name, value);
    }
  }
  append(element, children);
  return element;
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child);
    }
  }
}

// Sets an attribute; false, null and undefined take it away, true is ''.
export function setAttribute(
  element: Element,
  name: string,
  value: Attribute,
): void {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
    return;
  }
  const text = value === true ? '' : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

// Makes an HTML element; functions among the attributes are listeners.
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

// Makes an SVG element.
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  return fill(element, attributes, children);
}

export function replaceChildren(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

// Returns an element of the page that must be there.
export function byId<E extends HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element #${id}`);
  return element as E;
}
