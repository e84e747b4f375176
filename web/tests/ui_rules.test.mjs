// What the page says of the rules: sentences and drawings.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';

import {loadCore, moduleLoader, randomGame} from './harness.mjs';
import {randomNumbers} from './ui_page.mjs';

const core = await loadCore();
const catalogue = core.catalogue();
const load = moduleLoader();
const {lettersOf} = await load('/src/ui/board/drawing.ts');
const {FAMILIES, rulesInShort, rulesOfTurn} =
    await load('/src/ui/families.ts');
const {aimInWords, decisiveCount, otherRules} = await load('/src/ui/words.ts');

describe('the drawings of the rules', () => {
  test('are boards, and their dots and crosses are right', () => {
    let compared = 0;
    // The drawings of pairs are those of singles.
    const singles = catalogue.variants.filter(({seats}) => seats.length === 2);
    for (const variant of singles) {
      const rules = [FAMILIES[variant.family].aim, ...rulesInShort(variant)];
      for (const {phase, drawings = []} of rules) {
        for (const {board, side = 0, caption} of drawings) {
          const letters = lettersOf(board, catalogue.geometry);
          assert.match(letters.join(''), /^[.rbRBST+x]{45}$/, caption);
          // Those of no phase show what an action would bring.
          if (phase === undefined || !letters.includes('+')) continue;
          const bare = board.replace(/[+x]/g, '1').replace(
              /\d+/g, (run) => [...run].reduce((a, b) => a + Number(b), 0));
          const {value, error} = core.checkPosition(
              `${variant.id} ${bare} ${side} ${phase} - 0,0 0 - -`);
          assert.equal(error, undefined, caption);
          const legal = core.view(value).legal
              .map((index) => catalogue.actions[index])
              // Of the king in the middle.
              .filter(({from}) =>
                from === null || catalogue.geometry.hills[from].name === 'D4')
              .map(({to}) => to);
          const dots = letters.flatMap((l, hill) => l === '+' ? [hill] : []);
          assert.deepEqual(
              [...new Set(legal)].sort(), dots.sort(),
              `${variant.id} ${caption}`);
          ++compared;
        }
      }
    }
    assert.ok(compared >= 8, `${compared} were compared`);
  });

  test('are followed by what rule options change of them', () => {
    const game = (id, options, position) => ({
      variant: catalogue.variants.find((variant) => variant.id === id),
      options,
      position,
    });
    assert.equal(otherRules(game('four_treasures', {})), '');
    const options = {free_capture: 1, last_turns: 0, compensation: -2.5};
    const all = otherRules(game('four_treasures', options));
    assert.match(all, /^This game has other rules\. /);
    assert.match(all, / Compensation \u22122\.5: points given to Blue's side/);
    assert.match(all, / Free capture: a besieged enemy single may be captured/);
    assert.match(all, / Without last turns: the game ends at once when /);
    // Those of a turn have nothing of the result.
    assert.equal(
        otherRules(game('four_treasures', options), true),
        'This game has other rules. Free capture: a besieged enemy single ' +
            'may be captured, but need not be.');
    // Every switch that can be turned off says what holds then.
    for (const {id, options: all} of catalogue.variants) {
      for (const {name, isSwitch, defaultValue} of all) {
        if (!isSwitch || defaultValue === 0) continue;
        assert.match(
            otherRules(game(id, {[name]: 0})),
            /^This game has other rules\. Without [a-z ]+: [a-z][a-z ,]+\.$/,
            name);
      }
    }
    const {compensation, last_turns: last} = options;
    assert.equal(
        otherRules(
            game('four_treasures', {compensation, last_turns: last}), true),
        '');

    assert.equal(
        aimInWords(game('sacred_hill_l1', {})),
        'Fewest kingdoms wins; if equal, most ringforts.');
    assert.equal(
        aimInWords(game('sacred_hill_l1', {territory_breaks_ties: 0})),
        'Fewest kingdoms wins.');

    const position = {
      ending: 'out',
      score: {kingdoms: [2, 2], territory: [9, 7]},
    };
    assert.equal(
        decisiveCount(game('sacred_hill_l1', {}, position)),
        '2 kingdoms each; Red has 9 ringforts, Blue 7');
    assert.equal(
        decisiveCount(
            game('sacred_hill_l1', {territory_breaks_ties: 0}, position)),
        '2 kingdoms each, and ringforts do not count');
  });

  test('every turn of a game has its rule', () => {
    const random = randomNumbers(4);
    for (const variant of catalogue.variants) {
      for (const {text, view, legal} of
               randomGame(core, variant.id, random)) {
        if (view.finished) break;
        assert.ok(rulesOfTurn(variant, {...view, legal}).length > 0, text);
      }
    }
  });
});
