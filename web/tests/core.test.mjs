// The rules as compiled to WebAssembly, against the golden games of an
// independent implementation (tests/golden/README.md).

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {test} from 'node:test';

import {loadCore} from './harness.mjs';
import {root} from '../../tests/js/tara.mjs';

const golden = path.join(root, 'tests', 'golden');
const options = path.join(golden, 'options');  // of compensation and pie rule

const optionsText = (values = {}) =>
  Object.entries(values).map((each) => each.join('=')).join(',') || '-';

const resultOf = ({score, ending}) => ({
  points: score.points,
  kingdoms: score.kingdoms,
  territory: score.territory,
  bridges: score.bridges,
  kings_captured: score.kingsCaptured,
  winner: score.winner,
  ended_by: ending,
});

const core = await loadCore();
const {actions, variants} = core.catalogue();

test('there are ten variants', () => assert.equal(variants.length, 10));

for (const {id} of variants) {
  test(`the compiled core agrees with every golden game of ${id}`, async () => {
    for (const [folder, number] of [[golden, 40], [options, 12]]) {
      const text = await readFile(path.join(folder, `${id}.jsonl`), 'utf8');
      const games = text.trim().split('\n').map((line) => JSON.parse(line));
      assert.equal(games.length, number);
      for (const game of games) {
        const rules = optionsText(game.options);
        let position = core.initialPosition(id, rules).value;
        for (const {seat, action, legal} of game.steps) {
          const view = core.view(position);
          assert.equal(view.seat, seat);
          const swaps = position.includes('pie_rule=true');
          const texts = view.legal.map((i) => actions[i].notation)
              .map((text) => swaps ? text.replace('pass', 'swap') : text);
          assert.deepEqual(texts.sort(), legal);
          const {value, error} = core.play(position, action);
          assert.equal(error, undefined);
          position = value.text;
        }
        assert.deepEqual(resultOf(core.view(position)), game.result);
      }
    }
  });
}
