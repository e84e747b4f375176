// The rules as compiled to WebAssembly, against the golden games and counts of
// an independent implementation (tests/golden/README.md).

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {before, describe, test} from 'node:test';

import {loadCore} from './harness.mjs';
import {root} from '../../tests/js/tara.mjs';

const golden = path.join(root, 'tests', 'golden');
const options = path.join(golden, 'options');  // of compensation and pie rule
// Sequences of actions: what a count may come to within a few seconds.
const MAX_SEQUENCES = 100_000;

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

  test('counts sequences of actions as the golden counts do', async () => {
    const counts =
        JSON.parse(await readFile(path.join(golden, 'perft.json'), 'utf8'));
    for (const {id} of catalogue.variants) {
      const {start: fromStart, positions} = counts[id];
      const all = [{prefix: [], counts: fromStart}, ...positions];
      for (const {prefix, counts: expected} of all) {
        const position = prefix.reduce(play, start(id));
        expected.forEach((count, i) => {
          if (count > MAX_SEQUENCES) return;
          assert.equal(core.perft(position, i + 1), count, `${id} ${prefix}`);
        });
      }
    }
  });

  test('tells the bridges: of Stone of Destiny the links alone', () => {
    let position = start('four_treasures');
    for (const action of ['D4', 'A2', 'D5']) position = play(position, action);
    const {bridges, hills} = core.view(position);
    const names = catalogue.geometry.hills.map((hill) => hill.name);
    assert.deepEqual(
        bridges.map(({from, to, side}) => [names[from], names[to], side]),
        [['D4', 'D5', 0]]);
    assert.equal(hills[names.indexOf('A2')].owner, 1);
    const linked = core.view(core.checkPosition(
        'stone_of_destiny rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr' +
        ' 0 battle E1=E2 0,0 0 - -').value);
    assert.deepEqual(
        linked.bridges.map(({from, to}) => [names[from], names[to]]),
        [['E1', 'E2']]);
  });

  // Returns the action that a search by random games chooses, and its report.
  const search = (position, simulations, seed) => {
    const tree = new core.Search(position, simulations, false, 0, seed);
    while (!tree.done()) tree.runPlayouts(4);
    const report = tree.report();
    const chosen = tree.choose(0, seed);
    tree.delete();
    return {report, chosen};
  };

  // Red's points minus Blue's under best play, by trying everything.
  const bestMargin = (position, known = new Map()) => {
    const found = known.get(position);
    if (found !== undefined) return found;
    const view = core.view(position);
    const [red, blue] = view.score.points;
    const margins = view.legal.map(
        (i) => bestMargin(play(position, catalogue.actions[i].notation), known));
    const best = view.finished ? red - blue :
      Math[view.side === 0 ? 'max' : 'min'](...margins);
    known.set(position, best);
    return best;
  };

  test('wins what can be won near the end of golden games', async () => {
    let decided = 0;
    for (const {id} of catalogue.variants) {
      const text = await readFile(path.join(golden, `${id}.jsonl`), 'utf8');
      for (const line of text.trim().split('\n').slice(0, 10)) {
        const {steps} = JSON.parse(line);
        const position =
            steps.slice(0, -3).map((step) => step.action)
                .reduce(play, start(id));
        // Kings and bridges have endless ways.
        if (/high_kings|stone/.test(id)) continue;
        const {side, legal, vacant} = core.view(position);
        if (vacant > 5 || legal.length < 2) continue;
        const best = bestMargin(position);
        if (Math.sign(best) !== (side === 0 ? 1 : -1)) continue;
        ++decided;
        const {chosen, report} = search(position, 400, 1);
        const after = play(position, catalogue.actions[chosen].notation);
        assert.equal(
            Math.sign(bestMargin(after)), Math.sign(best), position);
        const proved =
            report.actions.find(({action}) => action === chosen)
                .provedRedMargin;
        assert.notEqual(proved, null, position);
        // The bounds hold the truth.
        const truth = bestMargin(after);
        assert.ok(proved[0] <= truth && truth <= proved[1], position);
      }
    }
    // So that the test has something to see.
    assert.ok(decided >= 10, `${decided} positions`);
  });
});
