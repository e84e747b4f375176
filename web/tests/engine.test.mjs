// The engine in its worker, in the real browser: games, text, search by random
// games, and what it refuses.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {before, describe, test} from 'node:test';

import {openEngine, suiteContext} from './harness.mjs';
import {binary, root} from '../../tests/js/tara.mjs';

describe('the engine', () => {
  let page;
  let problems;
  const context = suiteContext();
  before(async () => {
    ({page, problems} = await openEngine(context));
  });

  // Runs `body`, which gets the engine and the argument, in the page.
  const inPage = (body, argument) => page.evaluate(
      `(async () => (${body})(await window.engine, ${
        JSON.stringify(argument ?? null)}))()`);

  // Returns the message with which a call is refused.
  const refusal = (body, argument) => inPage(
      `async (engine, argument) => {
        try {
          await (${body})(engine, argument);
        } catch (error) {
          return error.message;
        }
        return 'not refused';
      }`, argument);

  test('plays, takes back, looks at other plies, and drops what follows',
       async () => {
    const game = await inPage(async (engine) => {
      await engine.newGame('sacred_hill_l1');
      await engine.play('D4');
      const {position} = await engine.game();
      await engine.play(position.legal[0].index);
      return engine.play('c2');
    });
    assert.deepEqual(
        game.actions.map(({action, seat}) => [action.notation, seat]),
        [['D4', 0], ['B1', 1], ['C2', 0]]);
    assert.equal(game.ply, 3);
    const back = await inPage(async (engine) => engine.goTo(1));
    assert.equal(back.ply, 1);
    assert.equal(back.actions.length, 3);
    assert.equal(back.position.vacant, 44);
    assert.equal(
        (await inPage((engine) => engine.positionAt(3))).vacant, 42);
    const other = await inPage((engine) => engine.play('A2'));
    assert.deepEqual(
        other.actions.map(({action}) => action.notation), ['D4', 'A2']);
    const start = await inPage((engine) => engine.undo(5));
    assert.equal(start.ply, 0);
    assert.equal(start.actions.length, 0);
  });

  test('takes rule options, and says which were wrong', async () => {
    const game = await inPage((engine) => engine.newGame(
        'high_kings_l1',
        {no_progress_limit: 7, placement_captures_kings: 1}));
    assert.deepEqual(
        game.options, {no_progress_limit: 7, placement_captures_kings: 1});
    assert.equal(game.position.noProgressLimit, 7);
    assert.match(
        await refusal((engine) =>
          engine.newGame('high_kings_l1', {no_progress_limit: 300})),
        /no_progress_limit.*300.*255/);
    assert.match(
        await refusal((engine) =>
          engine.newGame('high_kings_l1', {proximity_bound: 2})),
        /proximity_bound/);
    assert.match(
        await refusal((engine) => engine.newGame('chess')), /chess/);
  });

  test('begins games from positions, and gives them back as text', async () => {
    const position = 'four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - -';
    const game = await inPage(async (engine, text) => {
      await engine.loadGame(text);
      return engine.play('D5');
    }, `${position} C5 E4`);
    assert.equal(game.start, position);
    assert.equal(game.variant.id, 'four_treasures');
    assert.deepEqual(
        game.actions.map(({action, seat}) => [action.notation, seat]),
        [['C5', 0], ['E4', 1], ['D5', 0]]);
    assert.equal(
        await inPage((engine) => engine.saveGame()), `${position} C5 E4 D5`);
    assert.match(
        await inPage((engine) => engine.picture()), /Last action: D5\./);
    assert.doesNotMatch(
        await inPage((engine) => engine.picture(0)), /Last action/);
    // A start of a game is no position that was set up.
    const start = await inPage((engine) =>
      engine.loadGame('four_treasures 5/7/7/7/7/7/5 0'));
    assert.equal(start.start, null);
    assert.match(
        await refusal((engine, text) => engine.loadGame(text),
                      `${position} C5 C5`),
        /action 2: .*C5.* for Blue;/);
    // What is only asked about leaves the game alone.
    assert.equal(
        (await inPage((engine) => engine.completePosition(
            'sacred_hill_l1 5/7/7/3rr2/7/7/5 1'))).phase,
        'battle');
    assert.match(
        await refusal((engine) => engine.completePosition(
            'poisoned_chalice 5/7/7/3r3/7/7/5 1')),
        /D4; expected only edge hills/);
    assert.equal((await inPage((engine) => engine.game())).variant.id,
                 'four_treasures');
  });

  test('takes over the first action by the pie rule, and counts what is given',
       async () => {
    const game = await inPage(async (engine) => {
      await engine.newGame(
          'poisoned_chalice', {pie_rule: 1, compensation: 2.5});
      return engine.play('A3');
    });
    assert.deepEqual(game.options, {pie_rule: 1, compensation: 2.5});
    assert.equal(game.position.score.compensation, 2.5);
    const swap = game.position.legal.at(-1);
    assert.deepEqual([swap.kind, swap.notation], ['swap', 'swap']);
    assert.match(await refusal((engine) => engine.play('pass')), /swap/);
    const searched = await inPage((engine) =>
      engine.search({simulations: 200, seed: 1}).result);
    assert.ok(searched.actions.some(({action}) => action.kind === 'swap'));
    const swapped = await inPage((engine, index) => engine.play(index),
                                 swap.index);
    assert.deepEqual(swapped.actions.at(-1).action, swap);
    assert.equal(swapped.position.side, 0);
    assert.match(swapped.position.text, /1b3 0 manoeuvres .* compensation=2.5$/);
    assert.ok(swapped.position.legal.every(({kind}) => kind === 'hill'));
    assert.match(
        await refusal((engine) =>
          engine.newGame('four_treasures', {compensation: 1 / 3})),
        /compensation.*steps of 0.5/);
  });

  test('says why a hill cannot be acted on', async () => {
    const reasons = await inPage(async (engine) => {
      const kings = 'high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 manoeuvres - 0,0 0 - -';
      const at = (name) =>
          engine.info.geometry.hills.find((hill) => hill.name === name).index;
      return [
        await engine.whyNot(kings, at('B1')),
        await engine.whyNot(kings, at('E4'), at('D3')),
        await engine.whyNot(kings, at('D3'), null),
      ];
    });
    assert.deepEqual(reasons, [
      'A Blue king stands on B1: kings are captured by besieging them.',
      "E4 is not a knight's move from the king on D3.",
      null,
    ]);
    assert.match(
        await refusal((engine) => engine.whyNot('chess', 0)), /^position 'chess'/);
  });

  test('refuses bad actions and plies, and stays as it is', async () => {
    await inPage((engine) => engine.newGame('sacred_hill_l1'));
    assert.match(await refusal((engine) => engine.play('pass')), /pass/);
    assert.match(await refusal((engine) => engine.play('Z9')), /Z9/);
    assert.match(await refusal((engine) => engine.play(570)), /570.*569/);
    assert.match(await refusal((engine) => engine.goTo(1)), /ply is 1/);
    assert.match(await refusal((engine) => engine.undo(-1)), /-1/);
    assert.equal((await inPage((engine) => engine.game())).ply, 0);
  });

  test('reads and writes the games that the program reads and writes',
       async () => {
    const lines = [];
    for (const folder of ['golden', 'golden/options']) {
      const file = path.join(root, 'tests', folder, 'high_kings_l2.jsonl');
      const text = await readFile(file, 'utf8');
      lines.push(...text.trim().split('\n').slice(0, 5));
    }
    for (const line of lines) {
      const game = await inPage((engine, text) => engine.loadGame(text), line);
      assert.ok(game.position.finished);
      assert.equal(game.ply, JSON.parse(line).steps.length);
      assert.deepEqual(
          JSON.parse(await inPage((engine) => engine.saveGame())),
          JSON.parse(line));
    }
    // An unfinished one, with options, by its own text and by words.
    const text = await inPage(async (engine) => {
      await engine.loadGame(
          'stone_of_destiny no_progress_limit=9,link_all_at_end=false D4 D5');
      await engine.goTo(1);
      return engine.saveGame();
    });
    assert.deepEqual(
        JSON.parse(text).options,
        {no_progress_limit: 9, link_all_at_end: false});
    assert.equal('result' in JSON.parse(text), false);
    const again = await inPage((engine, saved) => engine.loadGame(saved), text);
    assert.equal(again.ply, 2);
    assert.equal(again.position.noProgressLimit, 9);
  });

  test('writes finished games that `tara verify` passes', async () => {
    const text = await inPage(async (engine) => {
      let {position} =
          await engine.newGame('stone_of_destiny', {no_progress_limit: 3});
      while (!position.finished) {
        const {legal} = position;
        const action = legal[(legal.length * 7) % 11 % legal.length];
        ({position} = await engine.play(action.index));
      }
      return engine.saveGame();
    });
    const {error, stdout, status} =
        spawnSync(binary, ['verify', '-'], {input: text, encoding: 'utf8'});
    assert.ifError(error);  // not built? bin/test and bin/tara do
    assert.equal(stdout, '1 passed, 0 failed\n');
    assert.equal(status, 0);
  });

  test('says what is wrong with the text of a game', async () => {
    const load = (text) =>
      refusal((engine, argument) => engine.loadGame(argument), text);
    assert.match(await load('  '), /no game/);
    assert.match(await load('draughts D4'), /draughts/);
    assert.match(
        await load('sacred_hill_l1 D4 D4'), /^action 2: .*D4.* for Blue;/);
    assert.match(
        await load('sacred_hill_l1 pie_rule=true swap'), /^action 1: .* Blue's/);
    assert.match(await load('{"variant": 1'), /JSON/);
    assert.match(await load('{"variant": 1, "steps": []}'), /variant.*1/);
    assert.match(
        await load('{"variant": "sacred_hill_l1"}'), /steps.*array/);
    assert.match(
        await load('{"variant": "sacred_hill_l1", "steps": [7]}'),
        /^action 1: .*7/);
    assert.match(
        await load('{"variant": "sacred_hill_l1", "steps": ' +
                   '[{"seat": 1, "action": "D4"}]}'),
        /seat of action 1.* 0.* 1/);
    assert.match(
        await load('{"variant": "sacred_hill_l1", "steps": [], ' +
                   '"result": {}}'),
        /not finished/);
  });

  test('judges positions by random games, for Red', async () => {
    const evaluation = await inPage(async (engine) => {
      await engine.newGame('four_treasures');
      return engine.evaluate();
    });
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

  test('searches, tells how far it is, and chooses by the seed', async () => {
    const {first, second, progress} = await inPage(async (engine) => {
      await engine.newGame('high_kings_l1');
      const reports = [];
      const search = async (onProgress) => {
        const request = {simulations: 20000, seed: 5};
        const {milliseconds, ...result} =
            await engine.search(request, onProgress).result;
        return result;
      };
      const a = await search((report) => reports.push(report));
      return {first: a, second: await search(), progress: reports};
    });
    assert.deepEqual(first, second);
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
    const {stopped, next} = await inPage(async (engine) => {
      await engine.newGame('sacred_hill_l1');
      const endless = engine.search({simulations: 10_000_000});
      const short = engine.search({simulations: 10, seed: 1});
      // The game goes on meanwhile: a search is of the position it began with.
      await engine.play('D4');
      endless.stop();
      return {stopped: await endless.result, next: await short.result};
    });
    assert.equal(stopped.stopped, true);
    assert.ok(stopped.simulations >= 1 && stopped.simulations < 10_000_000);
    assert.equal(next.stopped, false);
    assert.equal(next.simulations, 10);
    assert.equal(next.ply, 0);
  });

  test('at a weak level plays now this, now that; by a seed the same',
       async () => {
         const actions = await inPage(async (engine) => {
           await engine.newGame('sacred_hill_l1');
           const found = [];
           for (const seed of [1, 2, 3, 4, 5, 1]) {
             const {result} = engine.search({level: 'level:1', seed});
             found.push((await result).action.notation);
           }
           return found;
         });
         assert.equal(actions[5], actions[0]);
         assert.ok(new Set(actions).size > 2, actions.join());
       });

  test('rates by results, and has a prior', async () => {
    const {none, won, lost} = await inPage(async (engine) => {
      const {elo} = engine.info.levels[4].elo.four_treasures;
      const game = {elo, deviation: 20, began: true, score: 1};
      const rate = (games) => engine.rate('four_treasures', games);
      return {
        none: await rate([]),
        won: await rate(Array(10).fill(game)),
        lost: await rate(Array(10).fill({...game, score: 0})),
      };
    });
    assert.ok(none.deviation > 1000 && won.deviation < none.deviation);
    assert.ok(lost.elo < none.elo && none.elo < won.elo);
    assert.match(
        await refusal((engine) => engine.rate('chess', [])), /'chess'/);
  });

  test('refuses searches that make no sense', async () => {
    const search = (request) =>
      refusal((engine, argument) => engine.search(argument).result, request);
    assert.match(await search({level: 'godlike'}), /godlike.*level:1, level:2/);
    assert.match(await search({simulations: 0}), /simulations is 0/);
    assert.match(await search({temperature: -1}), /temperature is -1/);
    assert.match(await search({seed: 0.5}), /seed is 0.5/);
    assert.match(await search({ply: 3}), /ply is 3/);
    assert.match(
        await refusal((engine) => engine.verifyNetwork()), /no network/);
  });

  test('searches the position after an action that is not played', async () => {
    const {thought, played, ply, byNotation, byText} = await inPage(async (engine) => {
      const request = {simulations: 50, seed: 3, temperature: 0};
      await engine.newGame('sacred_hill_l1');
      const [first] = (await engine.game()).position.legal;
      const search = async (more) => {
        const {milliseconds, ...rest} =
            await engine.search({...request, ...more}).result;
        return rest;
      };
      const inThought = await search({ply: 0, after: first.index});
      const named = await search({ply: 0, after: first.notation});
      const game = await engine.game();
      const {position} = await engine.play(first.index);
      await engine.newGame('four_treasures');
      const byText = await search({position: position.text});
      await engine.loadGame(`sacred_hill_l1 ${first.notation}`);
      return {thought: inThought, byNotation: named, byText, ply: game.ply,
              played: await search({ply: 1})};
    });
    assert.equal(ply, 0);
    assert.deepEqual(byNotation, thought);
    assert.deepEqual(byText, thought);
    assert.deepEqual({...thought, ply: 1}, played);
    const search = (after) => refusal(
        (engine, argument) => engine.search({ply: 1, after: argument}).result,
        after);
    assert.match(await search('B1'), /illegal action B1/);
    assert.match(
        await refusal((engine) => engine.search({position: 'chess'}).result),
        /^position 'chess'/);
    assert.match(await search(570), /action is 570/);
  });

  test('searches no finished game', async () => {
    const file = path.join(root, 'tests', 'golden', 'sacred_hill_l1.jsonl');
    const line = (await readFile(file, 'utf8')).split('\n')[0];
    await inPage((engine, text) => engine.loadGame(text), line);
    assert.match(
        await refusal((engine) => engine.search({simulations: 1}).result),
        /over/);
    assert.match(await refusal((engine) => engine.evaluate()), /over/);
  });

  test('has asked nobody for anything, and logged no error', () => {
    assert.deepEqual(problems, []);
  });
});
