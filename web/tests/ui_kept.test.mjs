// The games that the browser keeps: one for each tab, and those to go back to.

import assert from 'node:assert/strict';
import {describe} from 'node:test';

import {watchPage} from '../../tests/js/browser.mjs';
import {
  atPly, boardState, build, fillStorage, newGame, openFiles, pauseComputer, reload,
  startSite, waitForName, waitForToast, waitForTurn,
} from './ui_page.mjs';

const PREFIX = 'tara.games.';

describe('games that are kept', () => {
  const site = startSite();

  const ready = (page) => page.waitForSelector('body.ready');

  // Another tab of the same browser.
  const openTab = async (page) => {
    const tab = await page.context().newPage();
    const problems = watchPage(tab, {allowed: new URL('/', page.url()).href});
    await tab.goto(page.url());
    await ready(tab);
    return {tab, problems};
  };

  // The game on the board in its short form, once the page shows it.
  const shortForm = async (page) => {
    await openFiles(page);
    await page.click('[data-do="short"]');
    const text = await page.inputValue('#game-text');
    await page.click('#game-file [aria-label="Close"]');
    return text;
  };

  // The text of each recent game that can be gone back to.
  const recent = async (page) => {
    await openFiles(page);
    const games = await page.$$eval(
        '[data-kept]', (all) => all.map((each) => each.textContent));
    await page.click('#game-file [aria-label="Close"]');
    return games;
  };

  const waitForGame = async (page, ply, name) => {
    await atPly(page, ply);
    await waitForName(page, name);
  };

  site.test('each tab has its own', async (page, problems) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4', 'B2', 'E6');
    const {tab, problems: others} = await openTab(page);
    // A new tab begins with the latest game.
    assert.equal(await shortForm(tab), 'sacred_hill_l1 D4 B2 E6');
    await newGame(tab, 'four_treasures', 'people');
    await build(tab, 'C3');
    await reload(page);
    assert.equal(await shortForm(page), 'sacred_hill_l1 D4 B2 E6');
    await reload(tab);
    assert.equal(await shortForm(tab), 'four_treasures C3');
    assert.deepEqual([problems, others], [[], []]);
  });

  site.test(
      'two tabs that play on in one game have two games then', async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await build(page, 'D4');
    const {tab} = await openTab(page);
    await build(tab, 'A2');
    await build(page, 'G6');
    await build(tab, 'A3');
    await reload(page);
    await reload(tab);
    assert.equal(await shortForm(page), 'four_treasures D4 G6');
    assert.equal(await shortForm(tab), 'four_treasures D4 A2 A3');
    // Each finds the other's game among the recent ones.
    assert.equal((await recent(page)).length, 1);
    assert.equal((await recent(tab)).length, 1);
  });

  site.test(
      'a game that another one follows can be gone back to', async (page) => {
    await newGame(page, 'sacred_hill_l2', 'people');
    await build(page, 'D4', 'B2');
    await newGame(page, 'poisoned_chalice', 'people');
    await waitForToast(
        page, ':has-text("Your game of Sacred Hill, Level 2 is kept")');
    await build(page, 'B1');
    const [first, ...more] = await recent(page);
    assert.match(first, /^Sacred Hill, Level 2\s*2 actions · Person – Person/);
    assert.deepEqual(more, []);
    await page.click('#file-button');
    await page.click('[data-kept]');
    await waitForGame(page, 2, 'Sacred Hill, Level 2');
    await build(page, 'E6');
    await reload(page);
    assert.equal(await shortForm(page), 'sacred_hill_l2 D4 B2 E6');
    assert.match((await recent(page))[0], /^Poisoned Chalice\s*1 action ·/);
    // It is forgotten when it is told to.
    await page.click('#file-button');
    await page.click('#game-file [aria-label="Remove this game"]');
    await page.waitForSelector('[data-kept]', {state: 'detached'});
    assert.equal(
        await page.evaluate(
            () => document.activeElement.closest('dialog')?.id),
        'game-file');
  });

  site.test('a game that nobody has begun leaves nothing', async (page) => {
    for (let i = 0; i < 3; ++i) await newGame(page, 'high_kings_l1', 'people');
    const kept = await page.evaluate(
        (prefix) => Object.keys(localStorage).filter(
            (key) => key.startsWith(prefix)).length,
        PREFIX);
    assert.equal(kept, 1);
  });

  site.test('what is damaged stays, and is told of', async (page) => {
    await page.evaluate((prefix) => {
      localStorage.clear();
      sessionStorage.clear();
      const entry = {
        version: 1,
        text: 'sacred_hill_l1 D4 D9',
        players: ['person', 'person'],
        savedMs: 1,
      };
      localStorage.setItem(`${prefix}one`, JSON.stringify(entry));
      localStorage.setItem(`${prefix}two`, '{"version": 1, "te');
      localStorage.setItem(`${prefix}three`, '{"version": 7}');
      // Less is missing here: the game itself is whole.
      localStorage.setItem(`${prefix}four`, JSON.stringify({
        version: 1,
        text: 'four_treasures D4',
        players: ['grandmaster', 'level:2'],
        paused: true,
        savedMs: 1e300,
      }));
    }, PREFIX);
    await reload(page);
    await waitForToast(page, '.error:has-text("cannot be read (action 2: ")');
    await build(page, 'D4');
    await waitForTurn(page, 0);
    await page.click('#file-button');
    await page.click('[data-kept="one"]');
    await page.waitForSelector(
        '#game-file .note.error:has-text("This game cannot be read: action 2")');
    assert.equal(
        await page.inputValue('#game-text'), 'sacred_hill_l1 D4 D9');
    assert.equal(await page.locator('.kept li').count(), 2);
    await page.click('[data-kept="four"]');
    await waitForGame(page, 1, 'Four Treasures');
    // Nobody known is a person.
    const players = await page.$$eval(
        '.seat select', (seats) => seats.map(({value}) => value));
    assert.deepEqual(players.sort(), ['level:2', 'person']);
    for (const id of ['one', 'two', 'three']) {
      assert.ok(await page.evaluate(
          (key) => localStorage.getItem(key) !== null, PREFIX + id));
    }
  });

  site.test(
      'a full storage is told of, and a reload still finds the game',
      async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4');
    await fillStorage(page);
    await newGame(page, 'four_treasures', 'people');
    await waitForToast(page, '.error:has-text("cannot keep more games")');
    await build(page, 'C3', 'E5');
    await reload(page);
    assert.equal(await shortForm(page), 'four_treasures C3 E5');
    assert.match((await recent(page))[0], /^Sacred Hill, Level 1\s*1 action ·/);
  });

  site.test(
      'a browser that refuses storage plays all the same', async (page) => {
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException('refused', 'SecurityError');
          },
        });
      }
    });
    await reload(page);
    await build(page, 'D4');
  });

  site.test(
      'the computer goes on with its turn after a reload', async (page) => {
    await newGame(page, 'four_treasures', 'red', 'level:10');
    // Before the answer comes, which is then of the page that was reloaded.
    await page.click('[data-hill="D4"]');
    await page.waitForSelector('#board:not([data-ply="0"])');
    await reload(page);
    assert.equal((await waitForTurn(page, 0)).ply, 2);
  });

  site.test(
      'the computer that was to wait waits after a reload', async (page) => {
    await newGame(page, 'four_treasures', 'watch', 'level:10');
    await pauseComputer(page);
    const {ply} = await boardState(page);
    await reload(page);
    await page.waitForSelector('[data-do="pauseOrResume"]:has-text("Continue")');
    assert.equal((await boardState(page)).ply, ply);
  });
});
