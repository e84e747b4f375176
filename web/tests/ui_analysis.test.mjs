// Analysis on the board: it stays, and keeps what is left for another line.

import assert from 'node:assert/strict';
import {describe} from 'node:test';

import {checkAccess} from './harness.mjs';
import {
  atPly, DESKTOP, follow, newGame, PHONE, reload, savedGame, startSite, takePicture,
} from './ui_page.mjs';

describe('the analysis', () => {
  const site = startSite();

  const open = async (page, text) => {
    await follow(page, text);
    const {length} = text.split(' ');
    await page.waitForSelector(`#board[data-actions="${length - 1}"]`);
  };

  for (const viewport of [DESKTOP, PHONE]) {
    site.shared(
        `stays from one position to the next, ${viewport.width} wide`, {viewport},
        async (page) => {
      await open(page, 'four_treasures E4 C2 E6 D5');
      await page.keyboard.press('a');
      await page.waitForSelector('.hint-ring');
      const seats = page.locator('.seats');
      const {y} = await seats.boundingBox();
      // It ends, if by its time.
      await page.waitForSelector('[data-do="hint"]:enabled');
      // Nothing has moved meanwhile, nor does it with the next position.
      assert.equal((await seats.boundingBox()).y, y);
      await page.keyboard.press('ArrowLeft');
      await atPly(page, 3);
      await page.waitForSelector('.hint-ring');
      assert.equal((await seats.boundingBox()).y, y);
      await checkAccess(page, 'the analysis');
      await takePicture(page, `analysis-${viewport.width}`);
      await page.click('[data-do="analyse"]');
      await page.keyboard.press('ArrowRight');
      await atPly(page, 4);
      await page.waitForSelector('.lines', {state: 'hidden'});
      assert.equal(await page.locator('.hint-ring').count(), 0);
    });
  }

  site.shared(
      'plays a line that is chosen, and the game keeps the other',
      async (page) => {
    await open(page, 'four_treasures E4 C2 E6 D5');
    const text = await savedGame(page);
    const others = page.locator('.other-lines');
    await page.keyboard.press('ArrowLeft');
    await atPly(page, 3);
    await page.keyboard.press('Home');
    await atPly(page, 0);
    await page.keyboard.press('End');
    await atPly(page, 4);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await atPly(page, 2);
    await page.click('[data-hill="B4"]');
    await atPly(page, 3);
    await others.getByText('3 E6 D5').waitFor();
    await page.click('[data-do="hint"]');
    await page.locator('.line:enabled').first().click();
    await atPly(page, 4);
    // A third line, of one action.
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await atPly(page, 2);
    await page.click('[data-hill="G4"]');
    await page.waitForFunction(
        () => document.querySelectorAll('.other-lines button').length === 4);
    await checkAccess(page, 'other lines');
    await takePicture(page, 'lines');
    // They are there after a reload.
    await reload(page);
    await page.waitForFunction(
        () => document.querySelectorAll('.other-lines button').length === 4);
    await others.getByText('3 E6 D5').click();
    await others.getByText('3 G4').waitFor();
    await atPly(page, 3);
    assert.equal(await savedGame(page), text);
    // What goes on like a line is that line.
    await page.keyboard.press('ArrowLeft');
    await atPly(page, 2);
    await page.click('[data-hill="G4"]');
    await atPly(page, 3);
    assert.equal(await page.locator('.other-lines button').count(), 4);
    await page.click('[aria-label="Remove the line 3 E6 D5"]');
    await page.waitForFunction(
        () => document.querySelectorAll('.other-lines button').length === 2);
    // Another game has no lines.
    await newGame(page, 'four_treasures', 'people');
    assert.equal(await page.locator('.other-lines button').count(), 0);
  });
});
