// Dialogs: the browser's own, with a title and a button that closes them. A
// click beside them and the browser's Back close them, too: as long as one is
// open, the tab's history has an entry more.

import { h, replaceChildren, type Child } from './dom';
import { iconButton } from './parts';

export class Dialog {
  readonly element: HTMLDialogElement;
  readonly body = h('div.dialog-body');

  constructor(id: string, title: string, ...children: Child[]) {
    const titleId = `${id}-title`;
    const close = (): void => leaveEntry();
    this.element = h(
      'dialog',
      { id, 'aria-labelledby': titleId, closedby: 'any', close },
      h('header',
        h('h2', { id: titleId }, title),
        iconButton('close', 'Close', () => this.close())),
      this.body,
    );
    replaceChildren(this.body, ...children);
    document.body.append(this.element);
  }

  // `first` takes the focus if it can; else the button that closes has it.
  open(first?: HTMLElement | null): void {
    if (this.element.open) return;
    this.element.showModal();
    first?.focus({ preventScroll: true });
    this.element.scrollTop = 0;
    enterEntry();
  }

  close(): void {
    if (this.element.open) this.element.close();
  }
}

const OPEN = 'dialog'; // the state of the history's entry
let leaving = 0; // steps back that this module has asked for

function isOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

function enterEntry(): void {
  if (history.state !== OPEN) history.pushState(OPEN, '');
}

// Steps back when the last dialog has been closed otherwise than by Back. The
// browser does it some time later.
function leaveEntry(): void {
  if (isOpen() || history.state !== OPEN || leaving > 0) return;
  ++leaving;
  history.back();
}

addEventListener('popstate', () => {
  if (leaving > 0) {
    --leaving;
    // Another dialog has been opened meanwhile.
    if (isOpen()) enterEntry();
    return;
  }
  if (history.state === OPEN) return;
  document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
});
