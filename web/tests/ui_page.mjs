// What the tests that click through the page share.

import assert from 'node:assert/strict';
import {before, test} from 'node:test';

import {createServer} from 'vite';

import {startBrowser, watchPage} from '../../tests/js/browser.mjs';
import {outputFile, startServer, suiteContext, webRoot} from './harness.mjs';

export const DESKTOP = {width: 1280, height: 860};
export const PHONE = {width: 390, height: 844};
// A double click by a person: the page has answered the first one.
export const DOUBLE = {clickCount: 2, delay: 200};

// Serves the page, and starts the browser, for the tests of a suite. `test` has a
// page that is opened for it, and no problem but with `mayFail`.
export function startSite() {
  const context = suiteContext();
  let address;
  let browser;
  before(async () => {
    address = await startServer(context);
    browser = await startBrowser(context);
  });
  const open = (options) => openPage(browser, address, options);
  return {
    open,
    test(name, ...rest) {
      const body = rest.pop();
      const {mayFail = false, ...options} = rest[0] ?? {};
      test(name, async () => {
        const {page, problems, close} = await open(options);
        await body(page, problems);
        if (!mayFail) assert.deepEqual(problems, []);
        await close();
      });
    },
  };
}

// Opens the page as a new visitor, without a model. `problems` collects what
// goes wrong. `options` are those of Playwright's newContext.
async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({
    viewport: DESKTOP,
    reducedMotion: 'reduce',
    ...options,
  });
  await context.route(
      '**/model.tara', (route) => route.fulfill({status: 204}));
  const page = await context.newPage();
  const problems = watchPage(page, {allowed: address});
  await page.goto(address);
  await page.waitForSelector('body.ready');
  await page.evaluate(async () => void await document.fonts.ready);
  return {page, problems, close: () => context.close()};
}

// Waits until no step in the tab's history is due. A dialog that has closed takes
// one back some milliseconds later (src/ui/dialog.ts), which ends a reload that
// has begun by then, and undoes another address.
export async function settled(page) {
  await page.waitForFunction(() => history.state === null);
}

export async function reload(page) {
  await settled(page);
  await page.reload();
  await page.waitForSelector('body.ready');
}

// Saves what the page looks like, for people to look at.
export async function takePicture(page, name) {
  await page.screenshot({path: outputFile(`${name}.png`)});
}

// Waits until what `act` does has changed the position on the board.
export async function changed(page, act) {
  const before = await page.getAttribute('#board', 'data-changes');
  await act();
  await page.waitForSelector(`#board:not([data-changes="${before}"])`);
}

// Begins a game by the dialog. `seating` is one of the radio buttons': red,
// blue, people, watch.
export async function newGame(page, variant, seating, level = 'level:1') {
  await page.click('#new-game-button');
  await page.click(`label:has(input[value="${variant}"])`);
  await page.click(`input[name="seating"][value="${seating}"]`);
  await page.selectOption('select[name="level"]', level);
  await changed(page, () => page.click('#new-game button[type="submit"]'));
}

// Waits until an element, by itself or as a field, has this text.
export async function waitForText(page, selector, text) {
  await page.waitForFunction(([selector, source, flags]) => {
    const element = document.querySelector(selector);
    const found = element?.value ?? element?.textContent ?? '';
    return new RegExp(source, flags).test(found);
  }, [selector, text.source, text.flags]);
}

// Waits until this many actions lead to the position on the board.
export async function atPly(page, ply) {
  await page.waitForSelector(`#board[data-ply="${ply}"]`);
}

// Leaves the browser no room for another character.
export async function fillStorage(page) {
  await page.evaluate(() => {
    for (let size = 1 << 22, i = 0; size >= 1; ++i) {
      try {
        localStorage.setItem(`filler${i}`, 'x'.repeat(size));
      } catch {
        size >>= 1;
      }
    }
  });
}

// Where the game is: plies on the board and in all, the hills and links that
// may be clicked (name and middle), whether the game is over.
export function boardState(page) {
  return page.evaluate(() => {
    const board = document.querySelector('#board');
    const names = (selector, attribute) =>
        [...board.querySelectorAll(selector)].map((element) => {
          const {x, y, width, height} = element.getBoundingClientRect();
          return {
            name: element.getAttribute(attribute),
            x: x + width / 2,
            y: y + height / 2,
          };
        });
    const pass = document.querySelector('[data-do="pass"]');
    return {
      ply: Number(board.dataset.ply),
      actions: Number(board.dataset.actions),
      waits: board.dataset.waits === 'true',
      finished: document.querySelector('#result') !== null,
      starts: names('[data-use="start"]', 'data-hill'),
      ends: names('[data-use="end"]', 'data-hill'),
      singles: names(
          '[data-use]:not([data-use="start"]):not([data-use="end"])',
          'data-hill'),
      links: names('[data-link]', 'data-link'),
      pass: !pass.hidden,
    };
  });
}

// Waits until a person is to act at another ply than `ply`, or the game is
// over.
export async function waitForTurn(page, ply) {
  await page.waitForFunction((before) => {
    const {ply, waits} = document.querySelector('#board').dataset;
    return document.querySelector('#result') !== null ||
        (waits === 'true' && Number(ply) !== before);
  }, ply);
}

// Waits until the page says of the game that it is this one.
export async function waitForName(page, name) {
  await page.locator('#variant-name').getByText(name, {exact: true}).waitFor();
}

// Opens the dialog of games and texts.
export async function openFiles(page) {
  await page.click('#file-button');
  await page.waitForSelector('#game-file[open]');
}

// Clicks hills, each an action of a person, one after the other.
export async function build(page, ...hills) {
  for (const hill of hills) {
    const {ply} = await boardState(page);
    await page.click(`[data-hill="${hill}"]`);
    await waitForTurn(page, ply);
  }
}

// Waits for a notice, such as one that is an '.error'. It may be hidden again:
// notices are shown for some seconds.
export async function waitForToast(page, kind = '') {
  await page.waitForSelector(
      `.toast:not(:empty)${kind}`, {state: 'attached'});
}

// Numbers in [0, 1) that are the same in every run (Lehmer's generator of
// Park and Miller, 1988).
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

// Plays a random legal action by clicks: on hills, on the middle of a link,
// on the button for passing, and in the dialog about a sacrifice.
export async function clickAction(page, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  // By the mouse itself: whatever covers the place takes the click.
  const click = ({x, y}) => page.mouse.click(x, y);
  const state = await boardState(page);
  if (state.pass) {
    await page.click('[data-do="pass"]');
  } else if (state.links.length > 0 && random() < 0.5) {
    await click(pick(state.links));
  } else if (state.starts.length > 0) {
    await click(pick(state.starts));
    await page.waitForSelector('[data-use="end"]');
    await click(pick((await boardState(page)).ends));
  } else {
    await click(pick(state.singles));
  }
  await page.waitForFunction((before) => {
    const {ply} = document.querySelector('#board').dataset;
    const dialog = document.querySelector('#choice');
    return dialog.open || Number(ply) !== before;
  }, state.ply);
  const choices = await page.$$('#choice[open] [data-action]');
  if (choices.length > 0) await pick(choices).click();
  await waitForTurn(page, state.ply);
}

// The text of the game, by the dialog for saving.
export async function savedGame(page) {
  await openFiles(page);
  const text = await page.inputValue('#game-text');
  await page.click('#game-file [aria-label="Close"]');
  return text;
}

// Drops a file on the page as a file manager does.
export async function drop(page, name, content) {
  await page.evaluate(([name, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], name));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(
          type, {dataTransfer: data, bubbles: true, cancelable: true}));
    }
  }, [name, [...Buffer.from(content)]]);
}

// Modules of the page that need no browser, compiled for this process; nothing
// is served. `load` takes a path like '/src/ui/selection.ts'.
export function loadModules() {
  const vite = createServer({
    root: webRoot,
    logLevel: 'error',
    appType: 'custom',
    optimizeDeps: {noDiscovery: true},
    server: {middlewareMode: true, hmr: false, watch: null},
  });
  return {
    load: async (path) => (await vite).ssrLoadModule(path),
    close: async () => (await vite).close(),
  };
}
