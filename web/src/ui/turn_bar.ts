// The line above the board: the side to move and its options; at the end, the
// result.

import { h, patch, type Child } from './dom';
import { button } from './parts';
import {
  howItEnded, phaseName, request, resultSentence, seatName, warning,
} from './words';
import { SIDE_CLASS } from './board/pieces';
import type { App } from './app';
import type { Session } from './session';
import type { Game } from '../engine/api';

export class TurnBar {
  readonly element = h('div.turn-bar');

  constructor(private readonly app: App) {}

  render(): void {
    const { session } = this.app;
    const { position } = session;
    const side = position.finished ? position.score.winner : position.side;
    this.element.className = 'turn-bar ' +
      (side === null ? 'draw' : SIDE_CLASS[side]) +
      (position.finished ? ' finished' : '');
    patch(
      this.element,
      position.finished ? this.result(session.game) : this.turn(session),
    );
  }

  private turn(session: Session): Child[] {
    const { position, game } = session;
    const name = seatName(game.variant, position.seat!);
    const text = session.isPerson(position.seat!)
      ? request(position, session.chosen)
      : session.paused
        ? 'Paused: press Continue'
        : 'The computer is thinking';
    const note = warning(position);
    return [
      h('span.phase', phaseName(position)),
      h('strong.who', name),
      h('span.request', text),
      note !== '' && h('span.warning', note),
    ];
  }

  private result(game: Game): HTMLElement[] {
    const { position } = game;
    return [
      h('strong#result.who', resultSentence(position.score)),
      h('span.request', `${howItEnded(game).join('. ')}.`),
      button('', 'Review', () => this.app.showReview(), { class: 'primary' }),
    ];
  }
}
