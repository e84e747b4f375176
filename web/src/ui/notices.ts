// Notices: to screen readers (a polite live region) and, for a while, in a toast.

import { h } from './dom';
import { messageOf } from '../error';

const TOAST_MS = 5000; // at least
const MS_A_LETTER = 65;

export class Notices {
  private readonly live = h('p#announcements.visually-hidden', {
    role: 'status',
    'aria-live': 'polite',
  });
  private readonly toast = h('p.toast', { role: 'alert' });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.body.append(this.live, this.toast);
  }

  announce(sentence: string): void {
    this.live.textContent = sentence;
  }

  show(sentence: string, isError = false): void {
    clearTimeout(this.timer);
    this.toast.textContent = sentence;
    this.toast.classList.add('shown');
    this.toast.classList.toggle('error', isError);
    const least = isError ? 2 * TOAST_MS : TOAST_MS;
    this.timer = setTimeout(
      () => this.toast.classList.remove('shown'),
      Math.max(least, MS_A_LETTER * sentence.length),
    );
  }

  showError(error: unknown): void {
    this.show(messageOf(error), true);
  }
}
