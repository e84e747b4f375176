// The choice of a game: variant, players, rule options.

import { Dialog } from './dialog';
import { h } from './dom';
import { button, labelled, radio, select, setOptions } from './parts';
import { FAMILIES, variantLabel } from './families';
import {
  defaultLevel, levelLabel, levelName, PERSON, type Player,
} from './players';
import { RuleOptionFields } from './rule_options';
import { standingSentence } from './words';
import type { App } from './app';
import type { RuleOptions, VariantInfo } from '../engine/api';

export interface NewGame {
  readonly variant: VariantInfo;
  readonly options: RuleOptions;
  readonly players: readonly Player[];
}

// Who sits where; `seat` is the person's, among computers.
const SEATINGS = [
  { id: 'red', label: 'I play Red', seat: 0 },
  { id: 'blue', label: 'I play Blue', seat: 1 },
  { id: 'people', label: 'Two players, one screen', seat: null },
  { id: 'watch', label: 'Watch the computer play itself', seat: -1 },
] as const;

export class NewGameDialog {
  private readonly dialog: Dialog;
  private readonly options = new RuleOptionFields();
  private readonly form: HTMLFormElement;
  private readonly level: HTMLSelectElement;
  private readonly standing = h('p.standing', { role: 'status' });
  // Always in sight, as the options are below what a screen shows.
  private readonly optionsButton = button('options', 'Rule options', () =>
    this.options.unfold());
  private levelChosen = false; // by the person, since the dialog was opened

  constructor(private readonly app: App) {
    const { levels } = app.engine.info;
    this.level = select(
      'Strength of the computer',
      () => (this.levelChosen = true),
      levels.map((level) => [level.id, levelName(level)]),
    );
    this.level.name = 'level';
    this.level.value = defaultLevel(levels);
    this.form = h(
      'form',
      { method: 'dialog', submit: () => app.newGame(this.choice()) },
      this.families(),
      this.players(),
      this.options.element,
      h('div.dialog-actions',
        this.optionsButton,
        h('button.primary', { type: 'submit' }, 'Begin')),
    );
    this.dialog = new Dialog('new-game', 'New game', this.form);
  }

  open(): void {
    this.levelChosen = false;
    const { id } = this.app.session.game.variant;
    const input =
      this.form.querySelector<HTMLInputElement>(`input[value="${id}"]`);
    if (input !== null) input.checked = true;
    this.showVariant();
    this.dialog.open(input); // where Enter begins
  }

  private families(): HTMLElement {
    return h(
      'fieldset.families',
      { change: () => this.showVariant() },
      h('legend', 'Game'),
      Object.entries(FAMILIES).map(([family, { title, line }]) =>
        h('div.family', { class: family },
          h('h3', title),
          h('p.faint', line),
          h('div.pills',
            this.app.engine.info.variants
              .filter((variant) => variant.family === family)
              .map((variant) => this.pill(variant))))),
    );
  }

  private pill(variant: VariantInfo): HTMLElement {
    const more = { 'aria-label': variant.name };
    const input = radio('variant', variant.id, false, more);
    const label = h('span', variantLabel(variant));
    return labelled(input, label, { class: 'pill' });
  }

  private players(): HTMLElement {
    return h('fieldset.seatings',
      h('legend', 'Players'),
      SEATINGS.map(({ id, label }, i) =>
        labelled(radio('seating', id, i === 0), label)),
      h('label.level', 'Strength of the computer', this.level),
      this.standing,
      button('results', 'My results', () => this.app.resultsDialog.open(), {
        class: 'quiet',
      }),
      h('p.faint', 'You can change who plays each side at any time.'));
  }

  private variant(): VariantInfo {
    const id = new FormData(this.form).get('variant');
    const { variants } = this.app.engine.info;
    return variants.find((variant) => variant.id === id) ?? variants[0]!;
  }

  private showVariant(): void {
    const { engine, isRated } = this.app;
    const variant = this.variant();
    this.options.show(variant);
    this.optionsButton.hidden = this.options.element.hidden;
    setOptions(this.level, engine.info.levels.map((level) =>
      [level.id, levelLabel(level, variant, isRated)]));
    void this.showStanding(variant);
  }

  // Shows how strong the person is by the games so far, and chooses the level
  // to play next.
  private async showStanding(variant: VariantInfo): Promise<void> {
    const { isRated, results } = this.app;
    this.standing.textContent = isRated
      ? 'Numbers are Elo ratings: 200 points more mean winning about 3 of 4 ' +
        'games.'
      : 'Ratings are known for the built-in network only.';
    if (!isRated) return;
    const standing = await results.standing(variant);
    if (standing === null || variant !== this.variant()) return;
    this.standing.textContent = standingSentence(standing);
    if (!this.levelChosen) this.level.value = standing.next.id;
  }

  private choice(): NewGame {
    const variant = this.variant();
    const data = new FormData(this.form);
    const seating = SEATINGS.find(({ id }) => id === data.get('seating'))!;
    const players = variant.seats.map(({ index }) =>
      seating.seat === null || seating.seat === index
        ? PERSON
        : this.level.value);
    return { variant, options: this.options.values(), players };
  }
}
