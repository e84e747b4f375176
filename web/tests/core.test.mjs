// The rules as compiled to WebAssembly, against the golden games of an
// independent implementation (tests/golden/README.md).

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {before, describe, test} from 'node:test';

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

describe('the compiled core', () => {
  let core;
  let catalogue;
  before(async () => {
    core = await loadCore();
    catalogue = core.catalogue();
  });
  const start = (variant, options = '-') =>
    core.initialPosition(variant, options).value;
  const play = (position, notation) => {
    const {value, error} = core.play(position, notation);
    assert.equal(error, undefined);
    return value.text;
  };

  test('has ten variants and agrees with every golden game', async (t) => {
    assert.equal(catalogue.variants.length, 10);
    for (const {id} of catalogue.variants) {
      await t.test(id, async () => {
        for (const [folder, number] of [[golden, 40], [options, 12]]) {
          const text = await readFile(path.join(folder, `${id}.jsonl`), 'utf8');
          const games = text.trim().split('\n').map((line) => JSON.parse(line));
          assert.equal(games.length, number);
          for (const game of games) {
            let position = start(id, optionsText(game.options));
            for (const {seat, action, legal} of game.steps) {
              const view = core.view(position);
              assert.equal(view.seat, seat);
              const swaps = position.includes('pie_rule=true');
              const texts = view.legal.map((i) => catalogue.actions[i].notation)
                  .map((text) => swaps ? text.replace('pass', 'swap') : text);
              assert.deepEqual(texts.sort(), legal);
              position = play(position, action);
            }
            assert.deepEqual(resultOf(core.view(position)), game.result);
          }
        }
      });
    }
  });
});
