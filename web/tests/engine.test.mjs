// The engine: games, text, search by random games, and what it refuses.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, test} from 'node:test';

import {makeEngine} from './harness.mjs';
import {binary, root} from '../../tests/js/tara.mjs';

describe('the engine', async () => {
  const engine = await makeEngine();
  const refused = (call, reason) => assert.rejects(call, {message: reason});
  const actionsOf = ({actions}) =>
    actions.map(({action, seat}) => [action.notation, seat]);
  const golden = (name) => readFileSync(
      path.join(root, 'tests', 'golden', `${name}.jsonl`), 'utf8').split('\n');

  test('plays, takes back, looks at other plies, and drops what follows',
       async () => {
    await engine.newGame('sacred_hill_l1');
    const {position} = await engine.play('D4');
    await engine.play(position.legal[0].index);
    const game = await engine.play('c2');
    assert.deepEqual(actionsOf(game), [['D4', 0], ['B1', 1], ['C2', 0]]);
    assert.equal(game.ply, 3);
    const back = await engine.goTo(1);
    assert.equal(back.ply, 1);
    assert.equal(back.actions.length, 3);
    assert.equal(back.position.vacant, 44);
    assert.equal((await engine.positionAt(3)).vacant, 42);
    assert.deepEqual(
        actionsOf(await engine.play('A2')), [['D4', 0], ['A2', 1]]);
    const start = await engine.undo(5);
    assert.equal(start.ply, 0);
    assert.equal(start.actions.length, 0);
  });

  test('takes rule options, and says which were wrong', async () => {
    const options = {no_progress_limit: 7, placement_captures_kings: 1};
    const game = await engine.newGame('high_kings_l1', options);
    assert.deepEqual(game.options, options);
    assert.equal(game.position.noProgressLimit, 7);
    for (const [variant, options, reason] of [
      ['high_kings_l1', {no_progress_limit: 300},
       /no_progress_limit.*300.*255/],
      ['high_kings_l1', {proximity_bound: 2}, /proximity_bound/],
      ['four_treasures', {compensation: 1 / 3}, /compensation.*steps of 0.5/],
      ['chess', {}, /chess/],
    ]) await refused(engine.newGame(variant, options), reason);
  });

  test('begins games from positions, and gives them back as text', async () => {
    const position = 'four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - -';
    await engine.loadGame(`${position} C5 E4`);
    const game = await engine.play('D5');
    assert.equal(game.start, position);
    assert.equal(game.variant.id, 'four_treasures');
    assert.deepEqual(actionsOf(game), [['C5', 0], ['E4', 1], ['D5', 0]]);
    assert.equal(await engine.saveGame(), `${position} C5 E4 D5`);
    assert.match(await engine.picture(), /Last action: D5\./);
    assert.doesNotMatch(await engine.picture(0), /Last action/);
    // A start of a game is no position that was set up.
    const {start} = await engine.loadGame('four_treasures 5/7/7/7/7/7/5 0');
    assert.equal(start, null);
    await refused(
        engine.loadGame(`${position} C5 C5`), /action 2: .*C5.* for Blue;/);
    // What is only asked about leaves the game alone.
    const asked =
        await engine.completePosition('sacred_hill_l1 5/7/7/3rr2/7/7/5 1');
    assert.equal(asked.phase, 'battle');
    await refused(
        engine.completePosition('poisoned_chalice 5/7/7/3r3/7/7/5 1'),
        /D4; expected only edge hills/);
    assert.equal((await engine.game()).variant.id, 'four_treasures');
  });

  test('takes over the first action by the pie rule, and counts what is given',
       async () => {
    const options = {pie_rule: 1, compensation: 2.5};
    await engine.newGame('poisoned_chalice', options);
    const game = await engine.play('A3');
    assert.deepEqual(game.options, options);
    assert.equal(game.position.score.compensation, 2.5);
    const swap = game.position.legal.at(-1);
    assert.deepEqual([swap.kind, swap.notation], ['swap', 'swap']);
    await refused(engine.play('pass'), /swap/);
    const searched = await engine.search({simulations: 200, seed: 1}).result;
    assert.ok(searched.actions.some(({action}) => action.kind === 'swap'));
    const swapped = await engine.play(swap.index);
    assert.deepEqual(swapped.actions.at(-1).action, swap);
    assert.equal(swapped.position.side, 0);
    assert.match(swapped.position.text, /1b3 0 manoeuvres .* compensation=2.5$/);
    assert.ok(swapped.position.legal.every(({kind}) => kind === 'hill'));
  });

  test('says why a hill cannot be acted on', async () => {
    const kings =
        'high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 manoeuvres - 0,0 0 - -';
    const at = (name) =>
      engine.info.geometry.hills.find((hill) => hill.name === name).index;
    for (const [reason, ...hills] of [
      ['A Blue king stands on B1: kings are captured by besieging them.',
       at('B1')],
      ["E4 is not a knight's move from the king on D3.", at('E4'), at('D3')],
      [null, at('D3'), null],
    ]) assert.equal(await engine.whyNot(kings, ...hills), reason);
    await refused(engine.whyNot('chess', 0), /^position 'chess'/);
  });

  test('refuses bad actions and plies, and stays as it is', async () => {
    await engine.newGame('sacred_hill_l1');
    await refused(engine.play('pass'), /pass/);
    await refused(engine.play('Z9'), /Z9/);
    await refused(engine.play(570), /570.*569/);
    await refused(engine.goTo(1), /ply is 1/);
    await refused(engine.undo(-1), /-1/);
    assert.equal((await engine.game()).ply, 0);
  });

  test('reads and writes the games that the program reads and writes',
       async () => {
    const files = ['high_kings_l2', 'options/high_kings_l2'].map(golden);
    for (const line of files.flatMap((lines) => lines.slice(0, 5))) {
      const game = await engine.loadGame(line);
      assert.ok(game.position.finished);
      assert.equal(game.ply, JSON.parse(line).steps.length);
      assert.deepEqual(
          JSON.parse(await engine.saveGame()), JSON.parse(line));
    }
    // An unfinished one, with options, by its own text and by words.
    await engine.loadGame(
        'stone_of_destiny no_progress_limit=9,link_all_at_end=false D4 D5');
    await engine.goTo(1);
    const text = await engine.saveGame();
    const {options, ...json} = JSON.parse(text);
    assert.deepEqual(options, {no_progress_limit: 9, link_all_at_end: false});
    assert.equal('result' in json, false);
    const again = await engine.loadGame(text);
    assert.equal(again.ply, 2);
    assert.equal(again.position.noProgressLimit, 9);
  });

  test('writes finished games that `tara verify` passes', async () => {
    let {position} =
        await engine.newGame('stone_of_destiny', {no_progress_limit: 3});
    while (!position.finished) {
      const {legal} = position;
      const action = legal[(legal.length * 7) % 11 % legal.length];
      ({position} = await engine.play(action.index));
    }
    const {error, stdout, status} = spawnSync(
        binary, ['verify', '-'],
        {input: await engine.saveGame(), encoding: 'utf8'});
    assert.ifError(error);  // not built? bin/test and bin/tara do
    assert.equal(stdout, '1 passed, 0 failed\n');
    assert.equal(status, 0);
  });

  test('says what is wrong with the text of a game', async () => {
    const variant = '"variant": "sacred_hill_l1"';
    for (const [text, reason] of [
      ['  ', /no game/],
      ['draughts D4', /draughts/],
      ['sacred_hill_l1 D4 D4', /^action 2: .*D4.* for Blue;/],
      ['sacred_hill_l1 pie_rule=true swap', /^action 1: .* Blue's/],
      ['{"variant": 1', /JSON/],
      ['{"variant": 1, "steps": []}', /variant.*1/],
      [`{${variant}}`, /steps.*array/],
      [`{${variant}, "steps": [7]}`, /^action 1: .*7/],
      [`{${variant}, "steps": [{"action": "D4"}, {"action": "D4"}]}`,
       /^action 2: .*D4.* for Blue;/],
    ]) await refused(engine.loadGame(text), reason);
  });

  test('judges positions by random games, for Red', async () => {
    await engine.newGame('four_treasures');
    const evaluation = await engine.evaluate();
    assert.equal(evaluation.by, 'playouts');
    assert.equal(evaluation.policy.length, 45);
    assert.equal(evaluation.owners, null);
    const {win, draw, redMargin, redMargins} = evaluation;
    assert.ok(Math.abs(win[0] + draw + win[1] - 1) < 1e-6);
    const sum = redMargins.reduce((all, each) => all + each.probability, 0);
    assert.ok(Math.abs(sum - 1) < 1e-3, `${sum}`);
    const mean = redMargins.reduce(
        (all, {margin, probability}) => all + margin * probability, 0);
    assert.ok(Math.abs(mean - redMargin) < 1e-3);
  });

  // What a search has found, without the time that it took.
  const searched = async (request, onProgress) => {
    const {milliseconds, ...found} =
        await engine.search(request, onProgress).result;
    return found;
  };

  test('searches, tells how far it is, and chooses by the seed', async () => {
    await engine.newGame('high_kings_l1');
    const progress = [];
    const request = {simulations: 20000, seed: 5};
    const first = await searched(request, (report) => progress.push(report));
    assert.deepEqual(await searched(request), first);
    assert.equal(first.simulations, 20000);
    assert.equal(first.targetSimulations, 20000);
    assert.equal(first.stopped, false);
    assert.equal(
        first.actions.reduce((all, {visits}) => all + visits, 0), 20000);
    assert.equal(
        first.principalVariation[0].notation,
        first.actions[0].action.notation);
    for (const {simulations, targetSimulations} of progress) {
      assert.ok(simulations < 20000);
      assert.equal(targetSimulations, 20000);
    }
  });

  test('stops a search at once with what it has; others wait their turn',
       async () => {
    await engine.newGame('sacred_hill_l1');
    const endless = engine.search({simulations: 10_000_000});
    const short = engine.search({simulations: 10, seed: 1});
    // The game goes on meanwhile: a search is of the position it began with.
    await engine.play('D4');
    endless.stop();
    const stopped = await endless.result;
    assert.equal(stopped.stopped, true);
    assert.ok(stopped.simulations >= 1 && stopped.simulations < 10_000_000);
    const next = await short.result;
    assert.equal(next.stopped, false);
    assert.equal(next.simulations, 10);
    assert.equal(next.ply, 0);
  });

  test('at a weak level plays now this, now that; by a seed the same',
       async () => {
    await engine.newGame('sacred_hill_l1');
    const actions = [];
    for (const seed of [1, 2, 3, 4, 5, 1]) {
      const {action} = await searched({level: 'level:1', seed});
      actions.push(action.notation);
    }
    assert.equal(actions[5], actions[0]);
    assert.ok(new Set(actions).size > 2, actions.join());
  });

  test('rates by results, and has a prior', async () => {
    const {elo} = engine.info.levels[4].elo.four_treasures;
    const game = {elo, deviation: 20, began: true, score: 1};
    const rate = (games) => engine.rate('four_treasures', games);
    const none = await rate([]);
    const won = await rate(Array(10).fill(game));
    const lost = await rate(Array(10).fill({...game, score: 0}));
    assert.ok(none.deviation > 1000 && won.deviation < none.deviation);
    assert.ok(lost.elo < none.elo && none.elo < won.elo);
    await refused(engine.rate('chess', []), /'chess'/);
  });

  test('refuses searches that make no sense', async () => {
    for (const [request, reason] of [
      [{level: 'godlike'}, /godlike.*level:1, level:2/],
      [{simulations: 0}, /simulations is 0/],
      [{temperature: -1}, /temperature is -1/],
      [{seed: 0.5}, /seed is 0.5/],
      [{ply: 3}, /ply is 3/],
      [{position: 'chess'}, /^position 'chess'/],
    ]) await refused(engine.search(request).result, reason);
    await refused(engine.verifyNetwork(), /no network/);
  });

  test('searches the position after an action that is not played', async () => {
    const search = (more) =>
      searched({simulations: 50, seed: 3, temperature: 0, ...more});
    const {position: {legal: [{index, notation}]}} =
        await engine.newGame('sacred_hill_l1');
    const thought = await search({ply: 0, after: index});
    assert.deepEqual(await search({ply: 0, after: notation}), thought);
    assert.equal((await engine.game()).ply, 0);
    const {position: {text}} = await engine.play(index);
    await engine.newGame('four_treasures');
    assert.deepEqual(await search({position: text}), thought);
    await engine.loadGame(`sacred_hill_l1 ${notation}`);
    assert.deepEqual(await search({ply: 1}), {...thought, ply: 1});
    await refused(search({ply: 1, after: 'B1'}), /illegal action B1/);
    await refused(search({ply: 1, after: 570}), /action is 570/);
  });

  test('searches no finished game', async () => {
    await engine.loadGame(golden('sacred_hill_l1')[0]);
    await refused(engine.search({simulations: 1}).result, /over/);
    await refused(engine.evaluate(), /over/);
  });
});
