// Dialogs: the browser's own, with a title and a button that closes them.

import { h, type Child } from './dom';
import { icon } from './icons';

export class Dialog {
  readonly element: HTMLDialogElement;
  readonly body = h('div', { class: 'dialog-body' });

  constructor(id: string, title: string, ...children: Child[]) {
    const titleId = `${id}-title`;
    this.element = h(
      'dialog',
      {
        id,
        'aria-labelledby': titleId,
        click: (event: MouseEvent) => this.onClick(event),
      },
      h(
        'header',
        {},
        h('h2', { id: titleId }, title),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': 'Close',
            click: () => this.close(),
          },
          icon('close'),
        ),
      ),
      this.body,
    );
    for (const child of children) if (child) this.body.append(child);
    document.body.append(this.element);
  }

  open(): void {
    if (!this.element.open) this.element.showModal();
  }

  close(): void {
    if (this.element.open) this.element.close();
  }

  // A click beside the dialog, on the backdrop, closes it.
  private onClick(event: MouseEvent): void {
    if (event.target === this.element) this.close();
  }
}
