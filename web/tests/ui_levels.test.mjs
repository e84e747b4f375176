// Levels of known strength, and what a person's games tell of theirs.

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {describe} from 'node:test';

import {checkAccess, webRoot} from './harness.mjs';
import {
  boardState, build, clickAction, newGame, PHONE, randomNumbers, reload,
  startSite, takePicture, waitForToast, waitForTurn,
} from './ui_page.mjs';

describe('levels', () => {
  const site = startSite();
  const model = readFile(path.join(webRoot, '..', 'models', 'tara.tara'));

  // Gives the page the ready-made network, as a visitor has it.
  const giveNetwork = async (page) => {
    const body = await model;
    await page.route(
        '**/model.tara', (route) => route.fulfill({body}));
    await reload(page);
    await page.waitForSelector('#network-name');
  };

  const labels = (page, selector) =>
      page.$$eval(`${selector} option`,
                  (all) => all.map((each) => each.textContent));

  const results = (page) => page.evaluate(
      () => JSON.parse(localStorage.getItem('tara.results') ?? 'null'));

  const openDialog = async (page, variant) => {
    await page.click('#new-game-button');
    await page.click(`label:has(input[value="${variant}"])`);
  };

  // Plays random actions to the end of the game.
  const playOn = async (page, seed) => {
    const random = randomNumbers(seed);
    let state = await boardState(page);
    while (!state.finished) state = await clickAction(page, random, state);
  };

  site.test('have an Elo by variant with the network that was measured',
       async (page) => {
         await giveNetwork(page);
         // Whose a hill will be is marked on the hill itself.
         await page.click('[data-do="owners"]');
         await page.waitForSelector('.owner-mark');
         assert.deepEqual(
             await page.evaluate(() => {
               const middle = (element) => {
                 const {x, y, width, height} = element.getBoundingClientRect();
                 return [x + width / 2, y + height / 2];
               };
               const cells = [...document.querySelectorAll('[data-hill]')];
               const step = middle(cells[1])[0] - middle(cells[0])[0];
               const hills = cells.map(middle);
               return [...document.querySelectorAll('.owner-mark')]
                   .map(middle)
                   .map(([x, y]) => Math.min(...hills.map(
                       ([u, v]) => Math.hypot(x - u, y - v) / step)))
                   .filter((distance) => distance > 0.4);
             }),
             []);
         await page.click('[data-do="owners"]');
         await openDialog(page, 'four_treasures');
         const first = await labels(page, 'select[name="level"]');
         assert.equal(first.length, 10);
         first.forEach(
             (label, i) =>
                 assert.match(
                     label, new RegExp(`^Computer ${i + 1} · \\d+ Elo$`)));
         await page.click('label:has(input[value="high_kings_l1"])');
         const second = await labels(page, 'select[name="level"]');
         assert.notDeepEqual(second, first);
         assert.match(await page.textContent('.standing'), /^Numbers are Elo/);
         await takePicture(page, 'levels');
         await page.click('#new-game [aria-label="Close"]');
         // With another network, or none, nobody knows.
         await page.click('.network button:has-text("Remove")');
         await page.waitForSelector('.network:has-text("No network")');
         assert.deepEqual(
             (await labels(page, '.seat select')).slice(0, 3),
             ['Person', 'Computer 1', 'Computer 2']);
         await openDialog(page, 'four_treasures');
         assert.equal(
             (await labels(page, 'select[name="level"]'))[9], 'Computer 10');
         assert.match(
             await page.textContent('.standing'), /built-in network only/);
       });

  site.test(
      'rate who has played them, and the next one is proposed',
      {viewport: PHONE, colorScheme: 'dark'}, async (page) => {
    await giveNetwork(page);
    await newGame(page, 'four_treasures', 'blue', 'level:2');
    await waitForTurn(page, 0);
    await playOn(page, 1);
    // One game tells no rating.
    await waitForToast(page, ':has-text("1 game so far")');
    assert.match(
        await page.textContent('.toast'),
        /^Four Treasures: 1 game so far\. Next: Computer [123]\.$/);
    const {games} = await results(page);
    assert.equal(games.length, 1);
    const {variant, level, began, score} = games[0];
    assert.deepEqual(
        {variant, level, began},
        {variant: 'four_treasures', level: 'level:2', began: false});
    assert.ok([0, 0.5, 1].includes(score));
    // Twenty wins over level 6 make level 7 the one to play.
    await page.evaluate(() => {
      const kept = JSON.parse(localStorage.getItem('tara.results'));
      const won = {...kept.games[0], level: 'level:6', elo: 1150, score: 1};
      kept.games = Array(20).fill(won);
      localStorage.setItem('tara.results', JSON.stringify(kept));
    });
    await openDialog(page, 'four_treasures');
    await page.waitForSelector('.standing:has-text("by 20 games")');
    const [, elo] = /about (\d+) Elo \(\d+ to \d+, .*Next: Computer 7\.$/.exec(
        await page.textContent('.standing'));
    assert.ok(Number(elo) > 1250, elo);
    assert.equal(await page.inputValue('select[name="level"]'), 'level:7');
    await page.locator('.standing').scrollIntoViewIfNeeded();
    await takePicture(page, 'standing');
    // All results, on top of the dialog.
    await page.click('[data-do="results"]');
    await page.waitForSelector('#results[open]');
    assert.deepEqual(
        await page.locator('#results :is(h3, td, tbody th)').allTextContents(),
        ['Four Treasures', 'Computer 6', '20', '0', '0']);
    assert.match(
        await page.textContent('#results section p'),
        /^20 games\. You have about \d+ Elo \(\d+ to \d+\)\.$/);
    assert.match(
        await page.getAttribute('.rating-curve', 'aria-label'),
        new RegExp(`^Elo after each game: first \\d+, now ${elo}$`));
    await checkAccess(page, 'results');
    await takePicture(page, 'results');
    await page.click('#results [aria-label="Close"]');
    assert.ok(await page.isVisible('#new-game'));
    // Another variant knows nothing of it.
    await page.click('label:has(input[value="high_kings_l2"])');
    await page.waitForSelector('.standing:has-text("Numbers are Elo")');
  });

  site.test('count games without help, from the start to the end, alone',
       async (page) => {
         await giveNetwork(page);
         const waitForCount = (counts) => page.waitForFunction(
             (counts) =>
                 JSON.parse(sessionStorage.getItem('tara.tab')).counts ===
                 counts,
             counts);
         const help = [
           () => page.click('[data-do="hint"]'),
           async () => {
             await page.click('[data-do="heat"]');
             await page.click('[data-do="heat"]');
           },
           () => page.selectOption(
               '[aria-label="Who plays Blue"]', 'level:2'),
           async () => {
             await page.click('[data-do="undo"]');
             await page.waitForSelector('#board[data-ply="0"]');
             await waitForCount(true); // to look back is no help
             await page.click('[data-hill="C3"]');
           },
         ];
         for (const ask of help) {
           await newGame(page, 'four_treasures', 'red', 'level:1');
           await build(page, 'D4');
           // A reload in the middle changes nothing.
           await reload(page);
           await page.waitForSelector('#network-name');
           await waitForCount(true);
           await ask();
           await waitForCount(false);
         }
         // The game without the first D4 goes on without counting.
         await waitForTurn(page, 0);
         await playOn(page, 4);
         assert.equal(await results(page), null);
         // A kept game that counts is gone back to with a map over the board.
         await newGame(page, 'four_treasures', 'red', 'level:1');
         await build(page, 'D4');
         await waitForCount(true);
         await newGame(page, 'high_kings_l1', 'people');
         await page.click('[data-do="owners"]');
         await page.click('#file-button');
         await page.click('[data-kept]:has-text("Four Treasures") >> nth=0');
         await page.waitForSelector('#board[data-ply="2"]');
         await waitForCount(false);
       });
});
