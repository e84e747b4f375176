// What the tests that click through the page share.

import assert from 'node:assert/strict';
import {before, test} from 'node:test';

import {startBrowser, watchPage} from '../../tests/js/browser.mjs';
import {outputFile, startServer, suiteContext} from './harness.mjs';

export const DESKTOP = {width: 1280, height: 860};
export const PHONE = {width: 390, height: 844};
// A double click by a person: the page has answered the first one.
export const DOUBLE = {clickCount: 2, delay: 200};

// Serves the page, and starts the browser, for the tests of a suite, none of
// which has a problem but with `mayFail`. `test` has a page that is opened for
// it; `shared` goes on with that of the others, at the size and by the light
// that it names.
export function startSite(common = {}) {
  const context = suiteContext();
  let address;
  let browser;
  let free = null;
  before(async () => {
    address = await startServer(context);
    browser = await startBrowser(context);
  });
  const open = (options) =>
    openPage(browser, address, {...common, ...options});
  return {
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
    shared(name, ...rest) {
      const body = rest.pop();
      const {viewport = DESKTOP, colorScheme = 'light'} = rest[0] ?? {};
      test(name, async () => {
        const taken = free ?? await open();
        const {page, problems} = taken;
        free = null; // a page where a test has failed is not taken again
        await page.setViewportSize(viewport);
        await page.emulateMedia({colorScheme});
        await page.$$eval(
            'dialog[open]', (all) => all.forEach((each) => each.close()));
        await settled(page);
        await body(page);
        assert.deepEqual(problems, []);
        free = taken;
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
  await page.bringToFront();
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
  await changed(page, () => page.evaluate((choice) => {
    document.querySelector('#new-game-button').click();
    const form = document.querySelector('#new-game form');
    for (const [name, value] of Object.entries(choice)) {
      form.elements[name].value = value;
    }
    form.querySelector('.families').dispatchEvent(new Event('change'));
    form.requestSubmit();
  }, {variant, seating, level}));
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
// may be clicked (name and middle), whether a person is to act, to choose, or
// the game is over. Waits for a change after the state `before`: a person is to
// act at another ply or to choose, or the game is over.
export function boardState(page, before = null) {
  return page.evaluate(async (before) => {
    const board = document.querySelector('#board');
    const pass = document.querySelector('[data-do="pass"]');
    const names = (selector, attribute) =>
        [...board.querySelectorAll(selector)].map((element) => {
          const {x, y, width, height} = element.getBoundingClientRect();
          return {
            name: element.getAttribute(attribute),
            x: x + width / 2,
            y: y + height / 2,
          };
        });
    const read = () => ({
      ply: Number(board.dataset.ply),
      actions: Number(board.dataset.actions),
      waits: board.dataset.waits === 'true',
      finished: document.querySelector('#result') !== null,
      asks: document.querySelector('#choice').open,
      starts: names('[data-use="start"]', 'data-hill'),
      ends: names('[data-use="end"]', 'data-hill'),
      singles: names(
          '[data-use]:not([data-use="start"]):not([data-use="end"])',
          'data-hill'),
      links: names('[data-link]', 'data-link'),
      pass: !pass.hidden,
    });
    for (;;) {
      const {ply, waits} = board.dataset;
      const state = read();
      const isLater = waits === 'true' && Number(ply) !== before?.ply;
      const isAsked = state.asks || state.ends.length > before?.ends?.length;
      if (before === null || state.finished || isLater || isAsked) return state;
      await new Promise(requestAnimationFrame);
    }
  }, before);
}

// Waits until a person is to act at another ply than `ply`, or the game is
// over. Returns the state of the board.
export const waitForTurn = (page, ply) => boardState(page, {ply});

// Waits until the page says of the game that it is this one.
export async function waitForName(page, name) {
  await page.locator('#variant-name').getByText(name, {exact: true}).waitFor();
}

// Opens the dialog of games and texts.
export async function openFiles(page) {
  await page.bringToFront();
  await page.click('#file-button');
  await page.waitForSelector('#game-file[open]');
}

// Clicks hills, each an action of a person, one after the other.
export async function build(page, ...hills) {
  await page.bringToFront(); // other tabs are seldom drawn
  for (const hill of hills) {
    const {ply} = await boardState(page);
    await page.click(`[data-hill="${hill}"]`);
    await waitForTurn(page, ply);
  }
}

// Lets the computer wait, after an action that was on its way.
export async function pauseComputer(page) {
  const button = page.locator('[data-do="pauseOrResume"]');
  await button.filter({hasText: 'Pause'}).click();
  await button.filter({hasText: 'Continue'}).waitFor();
  await savedGame(page);
}

// Follows a link to a game or position in this tab.
export async function follow(page, text) {
  await settled(page);
  await page.evaluate(
      (hash) => { location.hash = hash; }, text.replaceAll(' ', '+'));
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
// on the button for passing, and in the dialog about a sacrifice. Returns the
// state of the board before the next one.
export async function clickAction(page, random, state = undefined) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  // By the mouse itself: whatever covers the place takes the click.
  const click = ({x, y}) => page.mouse.click(x, y);
  const before = state ?? await boardState(page);
  let {ends} = before;
  if (before.pass) {
    await page.click('[data-do="pass"]');
  } else if (before.links.length > 0 && random() < 0.5) {
    await click(pick(before.links));
  } else if (before.starts.length > 0) {
    await click(pick(before.starts));
    ({ends} = await boardState(page, before));
    await click(pick(ends));
  } else {
    await click(pick(before.singles));
  }
  const after = await boardState(page, {...before, ends});
  if (!after.asks) return after;
  await pick(await page.$$('#choice [data-action]')).click();
  return boardState(page, {...before, ends});
}

// The text of the game, by the dialog for saving.
export function savedGame(page) {
  return page.evaluate(async () => {
    document.querySelector('#file-button').click();
    const dialog = document.querySelector('#game-file');
    while (!dialog.open) await new Promise(requestAnimationFrame);
    const {value} = dialog.querySelector('#game-text');
    dialog.querySelector('[aria-label="Close"]').click();
    return value;
  });
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
