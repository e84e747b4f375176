// The page without a mouse, and as a screen reader hears it.

import assert from 'node:assert/strict';
import {describe} from 'node:test';

import {checkAccess} from './harness.mjs';
import {
  atPly, boardState, build, follow, newGame, savedGame, settled, startSite, waitForName,
  waitForTurn,
} from './ui_page.mjs';

// Lines of a game of High Kings Level 1: three placements each, then a king
// moves.
const HIGH_KINGS = ['B2', 'F6', 'F2', 'B6', 'D5', 'D2'];

describe('the keyboard', () => {
  const site = startSite();

  const focused = (page) => page.evaluate(
      () => document.activeElement.getAttribute('data-hill'));

  // Walks to a hill of the inner 5 x 5 by arrow keys, ranks first.
  const walkTo = async (page, hill) => {
    const place = await focused(page);
    const press = async (key, times) => {
      for (let i = 0; i < times; ++i) await page.keyboard.press(key);
    };
    const ranks = Number(hill[1]) - Number(place[1]);
    const files = hill.charCodeAt(0) - place.charCodeAt(0);
    await press(ranks > 0 ? 'ArrowUp' : 'ArrowDown', Math.abs(ranks));
    await press(files > 0 ? 'ArrowRight' : 'ArrowLeft', Math.abs(files));
    assert.equal(await focused(page), hill);
  };

  // Presses Tab until the board has the focus.
  const tabToBoard = async (page) => {
    for (let i = 0; i < 20; ++i) {
      if (await focused(page) !== null) return;
      await page.keyboard.press('Tab');
    }
    assert.fail('Tab does not reach the board');
  };

  site.test(
      'begins a game, places kings, moves one, takes it back', async (page) => {
    await page.keyboard.press('n');
    await page.waitForSelector('#new-game[open]');
    await page.focus('input[value="high_kings_l1"]');
    await page.keyboard.press('Space');
    await page.focus('input[value="people"]');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await waitForName(page, 'High Kings of Tara, Level 1');
    await tabToBoard(page);
    assert.equal(await focused(page), 'D4');
    for (const [ply, hill] of HIGH_KINGS.entries()) {
      await walkTo(page, hill);
      await page.keyboard.press(ply % 2 === 0 ? 'Enter' : 'Space');
      await waitForTurn(page, ply);
    }
    // The full stop finds the hills with a legal action: Red's kings.
    await page.keyboard.press('.');
    const start = await focused(page);
    assert.ok(['B2', 'F2', 'D5'].includes(start), start);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-use="end"]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-use="end"]', {state: 'detached'});
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-use="end"]');
    const {ends} = await boardState(page);
    // Now it finds the hills where the king may go, and those alone.
    const found = [];
    for (let i = 0; i < ends.length; ++i) {
      await page.keyboard.press('.');
      found.push(await focused(page));
    }
    assert.deepEqual(found.sort(), ends.map(({name}) => name).sort());
    await page.keyboard.press(',');
    assert.ok(found.includes(await focused(page)));
    await walkTo(page, ends.find(({name}) => /[B-F][2-6]/.test(name)).name);
    await page.keyboard.press('Enter');
    assert.equal((await waitForTurn(page, 6)).ply, 7);
    assert.match(
        await page.textContent('#announcements'),
        new RegExp(`^Red moves a king from ${start} to .* Blue to move.$`));
    await page.keyboard.press('u');
    assert.equal((await waitForTurn(page, 7)).ply, 6);
    await page.keyboard.press('r');
    assert.equal((await waitForTurn(page, 6)).ply, 7);
  });

  site.shared('begins another game by N and Enter', async (page) => {
    await newGame(page, 'high_kings_l1', 'people');
    await build(page, 'D4');
    await settled(page);
    await page.keyboard.press('n');
    await page.waitForSelector('#new-game[open]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#board[data-actions="0"]');
    assert.equal(
        await page.textContent('#variant-name'), 'High Kings of Tara, Level 1');
    await page.locator('dialog[open]').waitFor({state: 'hidden'});
  });

  site.test(
      'skips to the board, and stops only at what is seen', async (page) => {
    await page.keyboard.press('Tab');
    assert.equal(
        await page.evaluate(() => document.activeElement.textContent.trim()),
        'Skip to the board');
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'D4');
    assert.deepEqual(
        await page.$$eval(
            'button, select, input, textarea, summary, [tabindex="0"]',
            (all) => all
                .filter((each) => each.tabIndex >= 0 && each.id !== 'skip-button')
                .filter((each) => each.checkVisibility({visibilityProperty: true}))
                .filter((each) => each.getBoundingClientRect().width < 5)
                .map((each) => each.outerHTML)),
        []);
  });

  site.shared('keeps its place, or goes to the board', async (page) => {
    await follow(page, 'sacred_hill_l1 pie_rule=true D4');
    const onBoard = () => page.waitForSelector('[data-hill]:focus');
    const heard = (sentence) => page.waitForSelector(
        `#announcements:has-text("${sentence}")`, {state: 'attached'});
    await atPly(page, 1);
    // A button that is there no more.
    await page.focus('[data-do="pass"]');
    await page.keyboard.press('Enter');
    await atPly(page, 2);
    await onBoard();
    const entry = page.locator('.moves button').first();
    await entry.focus();
    await page.keyboard.press('Enter');
    await atPly(page, 1);
    await heard('Action 1 of 2: D4. Blue to move.');
    assert.ok(
        await entry.evaluate((button) => button === document.activeElement));
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme});
      await checkAccess(page, `an action that was taken back, ${colorScheme}`);
    }
    // One that cannot be pressed any more.
    await page.focus('[data-do="undo"]');
    await page.keyboard.press('Enter');
    await atPly(page, 0);
    await onBoard();
    await heard('The start of the game. Red to move.');
  });

  site.shared('plays a whole game by two keys', async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await page.focus('[data-hill="D4"]');
    let state = await boardState(page);
    while (!state.finished) {
      await page.keyboard.press('.');
      await page.keyboard.press('Enter');
      state = await waitForTurn(page, state.ply);
    }
    const game = JSON.parse(await savedGame(page));
    assert.equal(game.steps.length, state.ply);
    assert.match(await page.textContent('#announcements'), /wins|draw/);
  });

  site.shared(
      'walks round the corners that are no hills, and not off the board',
      async (page) => {
    await page.focus('[data-hill="B1"]');
    const path = ['ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowDown'];
    const places = [];
    for (const key of path) {
      await page.keyboard.press(key);
      places.push(await focused(page));
    }
    assert.deepEqual(places, ['A2', 'A2', 'B1', 'B1']);
  });

  site.shared(
      'says what is on every hill, and one hill alone takes the focus',
      async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4');
    const label = (hill) =>
        page.getAttribute(`[data-hill="${hill}"]`, 'aria-label');
    assert.equal(await label('D4'), 'D4, Red ringfort');
    assert.equal(await label('E6'), 'E6, vacant, build here');
    assert.equal(
        await page.textContent('#announcements'),
        'Red builds D4. Blue to move.');
    assert.equal(await page.$$eval('[data-hill]', (e) => e.length), 45);
    assert.equal(
        await page.$$eval('[data-hill][tabindex="0"]', (e) => e.length), 1);
    const tree = await page.locator('#board').ariaSnapshot();
    assert.match(tree, /grid "Board of 45 hills"/);
    assert.match(tree, /gridcell "D4, Red ringfort"/);
  });

  site.test(
      'Back closes a dialog, and leaves the page when none is open',
      async (page) => {
    const open = page.locator('dialog[open]');
    await page.click('#help-button');
    await open.waitFor();
    await page.goBack();
    await open.waitFor({state: 'hidden'});
    // Closed in other ways, it leaves nothing to go back through, however
    // quickly another one is opened.
    for (const id of ['new-game', 'file', 'help']) {
      await page.click(`#${id}-button`);
      await open.waitFor();
      await page.keyboard.press('Escape');
    }
    await open.waitFor({state: 'hidden'});
    await settled(page);
    await page.click('#help-button');
    await open.waitFor();
    await page.goBack();
    await open.waitFor({state: 'hidden'});
    assert.equal(
        await page.textContent('#variant-name'), 'Sacred Hill, Level 1');
    await page.goBack();
    assert.equal(page.url(), 'about:blank');
  });
});
