// The page with a network: a bundle made by the built program, dropped on it.

import assert from 'node:assert/strict';
import {before, describe} from 'node:test';

import {makeTinyBundle} from './bundles.mjs';
import {
  build, drop, newGame, reload, startSite, takePicture, waitForText,
  waitForToast, waitForTurn,
} from './ui_page.mjs';

describe('a network on the page', () => {
  const site = startSite();
  let bundle;
  before(() => {
    bundle = makeTinyBundle();
  });

  const source = '[aria-label="Course of the game"] header .faint';

  site.test(
      'plays, judges, forecasts, and goes', async (page) => {
    await drop(page, 'tiny.tara', bundle);
    await page.waitForSelector('#network-name');
    assert.equal(await page.textContent('#network-name'), 'tiny.tara');
    await newGame(page, 'four_treasures', 'red');
    await build(page, 'D4');
    await page.waitForSelector(
        `${source}:has-text("the network’s first guess")`);
    await page.click('[data-do="heat"]');
    await page.click('[data-do="owners"]');
    // As many places as there are legal actions: all vacant hills.
    await page.waitForFunction(
        () => document.querySelectorAll('.heat').length === 43);
    await waitForText(
        page, '.legends',
        /Policy: where the network would play .* percent.*Owners: whose ringfort the/);
    await takePicture(page, 'network');
    await page.click('.network summary');
    await page.click('[data-do="verify"]');
    await waitForToast(
        page, ':has-text("the same outputs here as when it was exported: 200")');
    await page.click('.network button:has-text("Remove")');
    await page.waitForSelector(`${source}:has-text("by random games")`);
    assert.equal(
        await page.evaluate(() => document.activeElement.textContent),
        'Load a network…');
  });

  site.test('stays when that of the page comes after it', async (page) => {
    // What the page is served with comes when it is let in.
    let letIn;
    const gate = new Promise((resolve) => letIn = resolve);
    await page.route('**/model.tara', async (route) => {
      await gate;
      await route.fulfill({body: Buffer.from(bundle)});
    });
    await reload(page);
    await drop(page, 'mine.tara', bundle);
    await page.waitForSelector('#network-name');
    await newGame(page, 'four_treasures', 'blue');
    letIn();
    // The computer's turns wait for it.
    await waitForTurn(page, 0);
    assert.equal(await page.textContent('#network-name'), 'mine.tara');
  });

  site.test('stays when a bundle is refused after it', async (page) => {
    await drop(page, 'tiny.tara', bundle);
    await page.waitForSelector('#network-name');
    await drop(page, 'broken.tara', bundle.slice(0, bundle.length / 2));
    await waitForToast(page, '.error:has-text("broken.tara")');
    assert.match(
        await page.textContent('.toast'),
        /^broken.tara was not loaded: .*\).* Still playing with tiny/);
    assert.equal(await page.textContent('#network-name'), 'tiny.tara');
  });
});
