// The review of a game in the page: what actions gave away, and where they are.

import assert from 'node:assert/strict';
import {describe} from 'node:test';

import {checkAccess} from './harness.mjs';
import {atPly, PHONE, startSite, takePicture} from './ui_page.mjs';

// The second game of tests/golden/four_treasures.jsonl. Its 44th action, A2,
// loses by 3 points what C7 alone wins by 3, as `tara solve --all-actions` has
// it.
const GAME =
    'four_treasures E4 C2 E6 D5 B4 B7 G4 C1 D2 F5 G5 B5 C6 A3 G6 A6 B6 A5 D1 ' +
    'E3 D7 E5 B2 D4 G2 E2 B1 F7 A4 E1 C5 F2 E7 B3 C3 D6 D3 F3 F6 G3 F7 G2 F4 ' +
    'A2 C7 C4 B7 F1';

describe('the review', () => {
  const site = startSite();

  const load = async (page, text) => {
    await page.click('#file-button');
    await page.fill('#game-text', text);
    await page.click('[data-do="load"]');
    await atPly(page, text.split(' ').length - 1);
  };
  // Whether an element is within the window.
  const inView = (page, selector) => page.$eval(selector, (element) => {
    const {top, bottom} = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  // The name of the hill on which a round mark lies.
  const hillUnder = (page, mark) => page.evaluate((mark) => {
    const {x, y, width, height} =
        document.querySelector(mark).getBoundingClientRect();
    return [...document.querySelectorAll('[data-hill]')].find((cell) => {
      const box = cell.getBoundingClientRect();
      const [left, top] = [x + width / 2 - box.x, y + height / 2 - box.y];
      return left > 0 && top > 0 && left < box.width && top < box.height;
    }).dataset.hill;
  }, mark);
  const review = async (page) => {
    await page.click('[data-do="review"]');
    await page.waitForSelector('#review[data-state="done"]', {timeout: 0});
  };

  site.shared(
      'finds a blunder, says what was better, and goes there',
      {viewport: PHONE}, async (page) => {
    await load(page, GAME);
    // Where the game has ended, nothing is left to map, and a review is offered.
    for (const map of ['heat', 'owners']) {
      assert.ok(await page.isDisabled(`[data-do="${map}"]`), map);
      await page.keyboard.press(map === 'heat' ? 'm' : 'o');
    }
    await page.evaluate(
        () => new Promise((drawn) => {
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        }));
    assert.equal(await page.textContent('.legends'), '');
    await page.click('.turn-bar:not(.editor) button:has-text("Review")');
    await page.waitForSelector('#review:not([data-state="none"])');
    assert.ok(await inView(page, '#review header'));
    await page.waitForSelector('#review[data-state="done"]');
    // Each side has its own mistakes.
    assert.deepEqual(
        await page.$$eval('#review h3', (all) => all.map((each) => [
          each.textContent,
          [...each.nextElementSibling.querySelectorAll('button')].every(
              (button) => button.className === each.className),
        ])),
        [['Red', true], ['Blue', true]]);
    await page.locator('#review').scrollIntoViewIfNeeded();
    await takePicture(page, 'review');
    const entry = page.locator('#review [data-ply="43"]');
    assert.match(
        await entry.getAttribute('aria-label'),
        /^44 A2 −100 %, blunder; C7 was better$/);
    await entry.click();
    await page.waitForSelector('#board[data-ply="43"]');
    await page.locator('.analysis .mistake').getByText(
        /^Action 44: Blue played A2, a blunder .* Better: C7/).waitFor();
    // Dots on the actions and on the curve.
    const dots = () => page.locator('.course .fault').count();
    assert.equal(
        await page.getAttribute('.moves li:nth-child(44) button', 'data-fault'),
        'blunder');
    assert.equal(await page.locator('.moves [data-ply]').count(), await dots());
    // Both are marked on the board, which has come into sight.
    assert.equal(await hillUnder(page, '.mistake-ring'), 'A2');
    assert.equal(await hillUnder(page, '.hint-ring'), 'C7');
    assert.equal(await page.locator('.last-ring').count(), 0);
    assert.ok(await inView(page, '#board'));
    // The plot has what the review's search found there.
    assert.match(
        await page.textContent('[aria-label="Course of the game"] header'),
        /after a search$/);
    await takePicture(page, 'mistake');
    // The side that erred tries again: a bad action, then the best one.
    await page.click('[data-do="try-again"]');
    await page.waitForSelector('.hint-ring', {state: 'detached'});
    const said = page.locator('.analysis .mistake');
    await said.getByText('Find a better action than A2.').waitFor();
    await page.click('[data-hill="C4"]');
    await said.getByText(/^C4 costs \d+ % of winning. Try another one\.$/)
        .waitFor();
    await page.click('[data-hill="C7"]');
    await said.getByText('Right: C7 is the best action.').waitFor();
    await checkAccess(page, 'a mistake');
    assert.equal(await page.getAttribute('#board', 'data-actions'), '48');
    // Of one side alone.
    const all = await dots();
    await page.click('#review .sides [data-side="1"]');
    await page.waitForFunction(
        (all) => document.querySelectorAll('.course .fault').length < all, all);
    assert.deepEqual(
        await page.locator('#review h3').allTextContents(), ['Blue']);
    await page.click('#review .sides [data-side="both"]');
    await page.click('[data-do="redo"]');
    await page.waitForSelector('.mistake-ring', {state: 'detached'});
    await said.waitFor({state: 'hidden'});
    // The game is as it was, and so is what was found.
    assert.equal(
        await page.getAttribute('#review', 'data-state'), 'done');
  });

  site.shared('is of one game alone, and can be stopped', async (page) => {
    await load(page, GAME.split(' ').slice(0, 9).join(' '));
    // Started and stopped before anything could be found.
    const state = await page.evaluate(async () => {
      const button = document.querySelector('[data-do="review"]');
      button.click();
      button.click();
      const frame = () => new Promise(requestAnimationFrame);
      await frame();
      await frame();
      return document.querySelector('#review').dataset.state;
    });
    assert.equal(state, 'none');
    await page.click('[data-do="review"]');
    await page.waitForSelector('#review:not([data-state="none"])');
    await load(page, 'four_treasures D4');
    await page.waitForSelector('#review[data-state="none"]');
    await review(page);
  });
});
