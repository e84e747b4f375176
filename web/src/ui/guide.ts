// The rule of the turn, next to the board: for beginners, until they hide it.
// When a phase begins, it has a drawing.

import { figure } from './board/drawing';
import { h, replaceChildren } from './dom';
import { rulesOfTurn } from './families';
import { button, iconButton } from './parts';
import { guided, setGuided } from './preferences';
import { otherRules } from './words';
import type { App } from './app';

export class Guide {
  readonly element = h('div.guide', { role: 'note', hidden: true });
  private shown = ''; // the text, and whether with a drawing
  private phase = ''; // of a variant
  private since = 0; // the ply in which it began

  constructor(private readonly app: App) {}

  render(): void {
    const { app } = this;
    const { engine, session } = app;
    const { game, position, personToMove } = session;
    const { id, seats } = game.variant;
    const forNobody = !seats.some(({ index }) => session.isPerson(index));
    if (!guided() || position.finished || forNobody) {
      this.hide();
      return;
    }
    const phase = `${id} ${position.phase}`;
    if (!personToMove) {
      // While the computer plays, the last rule stays.
      if (!this.phase.startsWith(`${id} `)) this.hide();
      return;
    }
    if (phase !== this.phase) {
      this.phase = phase;
      this.since = game.ply;
    }
    const isNew = game.ply < this.since + seats.length;
    const rules = rulesOfTurn(game.variant, position);
    const text = [
      ...rules.map((rule) => rule.text),
      otherRules(game, true),
      position.besieged.length > 0
        ? 'The board marks besieged ringforts with “!”.' : '',
    ].join(' ').trim();
    const shown = `${text} ${isNew}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const drawing = rules.flatMap((rule) => rule.drawings ?? [])[0];
    this.element.hidden = false;
    replaceChildren(
      this.element,
      h('div.rule',
        h('p', text),
        isNew && drawing !== undefined &&
          figure(drawing, engine.info.geometry)),
      button('lesson', 'Learn in a minute', () => app.open(app.lesson), {
        class: 'quiet',
      }),
      button('', 'All rules', app.actions.help, { class: 'quiet' }),
      iconButton('close', 'Hide the rule of the turn', () => {
        setGuided(false);
        this.hide();
      }, { title: 'Hide (Help shows it again)' }),
    );
  }

  private hide(): void {
    this.element.hidden = true;
    this.shown = '';
  }
}
