// What a hint or the review has found of the position on the board, beside it
// for as long as the position is there.

import { h, replaceChildren } from './dom';
import { givenAwaySentence, hintSentences } from './words';
import type { Session } from './session';

export class Finding {
  readonly element = h('div', { class: 'finding', role: 'status' });
  private shown = '';

  render(session: Session): void {
    const { hint, mistake, evaluation, game } = session;
    const lines =
      hint !== null
        ? hintSentences(hint, evaluation)
        : mistake !== null
          ? [
              'Mistake',
              givenAwaySentence(game, mistake),
              'On the board: played in gold, with a cross; better in green.',
            ]
          : [];
    // Left alone while it stays the same, for screen readers.
    const shown = lines.join('\n');
    if (shown === this.shown) return;
    this.shown = shown;
    const [title, ...sentences] = lines;
    replaceChildren(
      this.element,
      title !== undefined &&
        h(
          'section',
          { class: 'card' },
          h('header', {}, h('h2', {}, title)),
          ...sentences.map((sentence) => h('p', {}, sentence)),
        ),
    );
  }
}
