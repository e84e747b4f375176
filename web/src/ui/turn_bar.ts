// The line above the board: whose turn it is and what is asked; at the end,
// the result.

import { h, replaceChildren } from './dom';
import {
  endingSentence,
  phaseName,
  request,
  resultTitle,
  seatName,
  SIDE_NAMES,
  warning,
} from './words';
import { SIDE_CLASS } from './board/pieces';
import type { Session } from './session';
import type { Position, Side } from '../engine/api';

export class TurnBar {
  readonly element = h('div', { class: 'turn-bar' });

  constructor(private readonly newGame: () => void) {}

  render(session: Session): void {
    const { position } = session;
    this.element.classList.remove('red', 'blue', 'draw');
    const side = position.finished ? position.score.winner : position.side;
    this.element.classList.add(side === null ? 'draw' : SIDE_CLASS[side]);
    this.element.classList.toggle('finished', position.finished);
    replaceChildren(
      this.element,
      ...(position.finished ? this.result(position) : this.turn(session)),
    );
  }

  private turn(session: Session): HTMLElement[] {
    const { position, game } = session;
    const name = seatName(game.variant, position.seat!);
    const text = session.isPerson(position.seat!)
      ? request(position, session.chosen)
      : session.paused
        ? 'The computer waits for you to go on'
        : 'The computer is thinking';
    const note = warning(position);
    const parts = [
      h('span', { class: 'phase' }, phaseName(position)),
      h('strong', { class: 'who' }, name),
      h('span', { class: 'request' }, text),
    ];
    if (note !== '') parts.push(h('span', { class: 'warning' }, note));
    return parts;
  }

  private result(position: Position): HTMLElement[] {
    const { points, kingdoms, territory } = position.score;
    const has = (side: Side): string =>
      `${SIDE_NAMES[side]}: ${kingdoms[side]} kingdom${
        kingdoms[side] === 1 ? '' : 's'
      }, ${territory[side]} ringforts`;
    return [
      h('span', { class: 'phase' }, 'Game over'),
      h(
        'strong',
        { class: 'who', id: 'result' },
        `${resultTitle(position.score.winner)} ${points[0]} : ${points[1]}`,
      ),
      h(
        'span',
        { class: 'request' },
        `${endingSentence(position.ending)} ${has(0)}. ${has(1)}.`,
      ),
      h(
        'button',
        { type: 'button', class: 'primary', click: () => this.newGame() },
        'New game',
      ),
    ];
  }
}
