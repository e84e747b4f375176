// Games of every variant, played by clicking.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe} from 'node:test';

import {root} from '../../tests/js/tara.mjs';
import {loadCore, randomGame} from './harness.mjs';
import {
  atPly, boardState, clickAction, DOUBLE, follow, newGame,
  randomNumbers, savedGame, startSite, takePicture, waitForTurn,
} from './ui_page.mjs';

// A game in which both sides pass, one after the other.
const GOLDEN = readFileSync(
    path.join(root, 'tests/golden/high_kings_l1.jsonl'), 'utf8').split('\n');
const PASSES = /"pass".{1,80}"action": ?"pass"/;
const core = await loadCore();
const VARIANTS = core.catalogue().variants.map(({id}) => id);

describe('games on the page', () => {
  const site = startSite();

  for (const [index, variant] of VARIANTS.entries()) {
    site.shared(
        `plays ${variant} from its start and to its end by clicks of people`,
        async (page) => {
      const random = randomNumbers(1000 + index);
      const playOn = async (actions) => {
        let state = await boardState(page);
        for (let i = 0; i < actions && !state.finished; ++i) {
          const next = await clickAction(page, random, state);
          assert.equal(next.ply, state.ply + 1, 'a turn is one action');
          state = next;
        }
        return state;
      };
      await newGame(page, variant, 'people');
      await playOn(10);
      await takePicture(page, variant);
      const {played} = [...randomGame(core, variant, random)].at(-1);
      const most = played.length - 10;
      await follow(page, [variant, ...played.slice(0, most)].join(' '));
      await atPly(page, most);
      const state = await playOn(Infinity);
      await takePicture(page, `${variant}-end`);
      const game = JSON.parse(await savedGame(page));
      assert.equal(game.variant, variant);
      assert.equal(game.steps.length, state.ply);
      const points = await page.$$eval('.points.final', (elements) =>
          elements.map((element) => Number(element.textContent)));
      assert.deepEqual(points, game.result.points);
      const {winner} = game.result;
      const shown = winner === 1 ? points.reverse() : points;
      assert.equal(
          await page.textContent('#result'),
          `${winner === null ? 'A draw' :
              ['Red wins', 'Blue wins'][winner]}, ${shown.join(' to ')}`);
    });
  }

  site.shared(
      'takes a click on a link while the page is drawn anew', async (page) => {
    const random = randomNumbers(3);
    await newGame(page, 'stone_of_destiny', 'people');
    let state = await boardState(page);
    while (state.links.length === 0) {
      state = await clickAction(page, random, state);
    }
    const [link] = state.links;
    await page.mouse.move(link.x, link.y);
    await page.mouse.down();
    await page.evaluate(() => {
      document.querySelector('[data-do="heat"]').click();
      return new Promise((drawn) => {
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      });
    });
    await page.mouse.up();
    await waitForTurn(page, state.ply);
    assert.equal(
        JSON.parse(await savedGame(page)).steps.at(-1).action, link.name);
  });

  for (const variant of ['sacred_hill_doubles_l2', 'high_kings_l1']) {
    site.shared(`plays ${variant} against the computer`, async (page) => {
      const random = randomNumbers(7);
      await newGame(page, variant, 'blue');
      let state = await waitForTurn(page, 0);
      while (!state.finished) state = await clickAction(page, random, state);
      const game = JSON.parse(await savedGame(page));
      assert.ok(game.result !== undefined);
    });
  }

  site.shared('passes once by a double click', async (page) => {
    const game = JSON.parse(GOLDEN.find((line) => PASSES.test(line)));
    const played = game.steps.map(({action}) => action);
    const before = played.indexOf('pass');
    await follow(page, ['high_kings_l1', ...played.slice(0, before)].join(' '));
    await atPly(page, before);
    await page.click('[data-do="pass"]', DOUBLE);
    await atPly(page, before + 1);
    assert.equal(JSON.parse(await savedGame(page)).steps.length, before + 1);
  });
});
