// The page that `tara web --export` writes, in a folder of a server that knows
// nothing but files: in two browsers, with and without a network.

import assert from 'node:assert/strict';
import {execFile, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync,
  statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {promisify} from 'node:util';

import {
  startBrowser,
  startFirefox,
  watchPage,
} from '../../tests/js/browser.mjs';
import {binary, root} from '../../tests/js/tara.mjs';
import {checkAccess, suiteContext} from './harness.mjs';
import {
  DESKTOP, newGame, PHONE, reload, savedGame, takePicture,
  waitForToast, waitForTurn,
} from './ui_page.mjs';

const run = promisify(execFile);

const MAX_BYTES = 8e6;
const HERE = 'games/tara';  // of the page on its server

let space;     // what the servers have: folders with a page in HERE
let exported;  // the page as it was exported
before(async () => {
  space = mkdtempSync(path.join(tmpdir(), 'tara web space '));
  exported = path.join(space, 'plain', HERE);
  await run(binary, ['web', '--export', exported],
            {env: {...process.env, TARA_ROOT: root}});
});
after(() => rmSync(space, {recursive: true, force: true}));

// Paths of all files of a page.
const filesOf = (page) => readdirSync(page, {recursive: true})
    .filter((name) => statSync(path.join(page, name)).isFile());

// Files that a service worker leaves on the server: its own, and one for the
// server.
const NOT_KEPT = ['service-worker.js', '.nojekyll'];

// Returns the path of a copy of the page in a web space of its own.
function copyPage(name) {
  const copy = path.join(space, name, HERE);
  mkdirSync(path.dirname(copy), {recursive: true});
  cpSync(exported, copy, {recursive: true});
  return copy;
}

// Changes a file of a page as another version would have it.
function change(page, name, changed) {
  const hash = (text) => createHash('sha256').update(text).digest('base64');
  const file = path.join(page, name);
  const old = readFileSync(file, 'utf8');
  const text = changed(old);
  writeFileSync(file, text);
  const worker = path.join(page, 'service-worker.js');
  const list = readFileSync(worker, 'utf8');
  assert.ok(list.includes(hash(old)), name);
  writeFileSync(worker, list.replace(hash(old), hash(text)));
}

// Serves a web space by Python's server until `stop`, or the end of `context`.
async function startServer(context, name) {
  const server = spawn(
      '/usr/bin/python3',
      ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory',
       path.join(space, name)],
      {stdio: ['ignore', 'pipe', 'ignore']});
  const gone = new Promise((resolve) => server.on('close', resolve));
  const stop = async () => {
    server.kill();
    await gone;
  };
  context.after(stop);
  let said = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    said += text;
    const found = /port (\d+) .*\n/.exec(said);
    if (found) return {address: `http://127.0.0.1:${found[1]}/${HERE}/`, stop};
  }
  throw new Error(`no server: ${said}`);
}

// Opens the page as a new visitor, in whose window `script` runs before. Returns
// {context, page, problems}.
async function visit(browser, address, {script, ...options} = {}) {
  const context = await browser.newContext(
      {viewport: DESKTOP, reducedMotion: 'reduce', ...options});
  if (script !== undefined) await context.addInitScript(script);
  const page = await context.newPage();
  const problems = watchPage(page, {allowed: address});
  await begin(page, address);
  return {context, page, problems};
}

// Goes to the page, or loads it again, and waits until its network plays.
async function begin(page, address) {
  await (address === undefined ? reload(page) : page.goto(address));
  await ready(page);
}

async function ready(page) {
  await page.waitForSelector('body.ready');
  await page.waitForSelector('#network-name');
}

// Waits until the page's files are kept for the next visit.
const waitUntilKept = (page) =>
  page.evaluate(async () => { await navigator.serviceWorker.ready; });

// Whether a service worker answers for the server.
const isKept = (page) =>
  page.evaluate('Boolean(navigator.serviceWorker?.controller)');

// The computer begins a game of a variant.
async function letPlay(page, variant) {
  await newGame(page, variant, 'blue');
  assert.ok((await waitForTurn(page, 0)).ply > 0, variant);
}

// Presses a key until an element is there: a page that has just been loaded may
// not have the focus yet.
async function pressUntil(page, key, selector) {
  for (let tries = 12; tries > 0; --tries) {
    await page.keyboard.press(key);
    const found = await page.waitForSelector(selector, {timeout: 5000}).catch(
        (error) => { if (tries === 1) throw error; });
    if (found) return;
  }
}

// A person and the computer begin a game by the keyboard alone.
async function playByKeys(page) {
  await pressUntil(page, 'n', '#new-game[open]');
  await page.focus('input[value="four_treasures"]');
  await page.keyboard.press('Space');
  await page.focus('input[name="seating"][value="red"]');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
      () => document.querySelector('#variant-name').textContent ===
          'Four Treasures');
  const onBoard = () => page.evaluate(
      () => document.activeElement.hasAttribute('data-hill'));
  for (let i = 0; i < 30 && !await onBoard(); ++i) {
    await page.keyboard.press('Tab');
  }
  assert.ok(await onBoard());
  await page.keyboard.press('.');
  await page.keyboard.press('Enter');
  assert.equal((await waitForTurn(page, 0)).ply, 2);
  assert.match(await page.textContent('#announcements'), /Red to move/);
}

describe('an exported page', () => {
  const files = () => filesOf(exported);

  test('is smaller than 8 MB, with its network', () => {
    const sizes = files().map((name) => statSync(path.join(exported, name)).size);
    assert.ok(sizes.reduce((a, b) => a + b) < MAX_BYTES, sizes.join(' '));
    assert.ok(files().includes('model.tara'));
  });

  test('has the licences of all that is in it, and the rules', () => {
    const licences =
        readFileSync(path.join(exported, 'licences.txt'), 'utf8');
    for (const name of ['Tara', 'fflate', 'pbf', 'Alegreya', 'emscripten']) {
      assert.match(licences, new RegExp(`^${name}.*\n===`, 'm'));
    }
    assert.match(readFileSync(path.join(exported, 'rules.html'), 'utf8'),
                 /<h2 id="5-doubles">/);
  });

  test('can be installed: names, start, scope, icons of their sizes', () => {
    const manifest = JSON.parse(
        readFileSync(path.join(exported, 'manifest.json'), 'utf8'));
    assert.equal(manifest.start_url, './');
    assert.equal(manifest.display, 'standalone');
    const sizes = [];
    for (const {src, sizes: said} of manifest.icons) {
      const png = readFileSync(path.join(exported, src));
      assert.equal(png.toString('latin1', 1, 4), 'PNG');
      assert.equal(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`, said);
      sizes.push(said);
    }
    assert.deepEqual(sizes, ['192x192', '512x512', '512x512']);
  });
});

for (const [name, start] of
  [['Chromium', startBrowser], ['Firefox', startFirefox]]) {
  describe(`an exported page in ${name}`, () => {
    const suite = suiteContext();
    let browser;
    before(async () => {
      browser = await start(suite);
    });

    test('plays all variants, then offline, also by keyboard', async () => {
      const {address, stop} = await startServer(suite, 'plain');
      const {page, problems, context} = await visit(browser, address);
      assert.equal(await isKept(page), false);
      assert.equal(await page.textContent('#network-name'), 'tara.tara');
      // It is the one whose levels were measured, if repacked.
      assert.match(
          await page.textContent('.seat option[value="level:1"]'),
          /^Computer 1 · \d+ Elo$/);
      const variants = await page.$$eval(
          'input[name="variant"]', (all) => all.map(({value}) => value));
      assert.equal(variants.length, 10);
      for (const variant of variants) await letPlay(page, variant);
      const game = await savedGame(page);
      await waitUntilKept(page);

      await stop();
      await begin(page);
      assert.equal(await savedGame(page), game);
      assert.equal(await isKept(page), true);
      await playByKeys(page);
      const [other] = await Promise.all([
        context.waitForEvent('page'),
        page.keyboard.press('?').then(
            () => page.click('#help a[href="./rules.html"]')),
      ]);
      await other.waitForSelector('h1:has-text("Rules")');
      assert.deepEqual(problems, []);
      await context.close();
    });

    test('is of one version, and of another at the next visit', async () => {
      const copy = copyPage(name);
      const version = (page) => page.getAttribute('html', 'data-version');
      const set = (number) => change(copy, 'index.html', (text) =>
        text.replace(/<html[^>]*>/,
                     `<html lang="en" data-version="${number}">`));
      set(1);
      const {address} = await startServer(suite, name);
      const {page, problems, context} = await visit(browser, address);
      await waitUntilKept(page);
      await begin(page);
      assert.equal(await version(page), '1');

      set(2);
      // As browsers do now and then; again if one of their own was on its way,
      // with the old file.
      await page.waitForFunction(async () => {
        const registration = await navigator.serviceWorker.ready;
        if (!registration.installing && !registration.waiting) {
          await registration.update();
        }
        return registration.waiting !== null;
      });
      await waitForToast(page, ':has-text("new version")');
      // Another tab has the old one, too, as long as this one is open.
      const second = await context.newPage();
      await begin(second, address);
      assert.equal(await version(second), '1');
      await second.close();
      // The page loads itself once more, for the new version: that ends a
      // page.reload(), which in Firefox then waits on.
      await page.evaluate(() => { setTimeout(() => location.reload()); });
      await page.waitForSelector('html[data-version="2"]');
      await ready(page);
      await letPlay(page, 'sacred_hill_l1');
      const kept = await page.evaluate(async () => {
        const [name] = await caches.keys();
        return (await (await caches.open(name)).keys()).length;
      });
      assert.equal(kept, filesOf(copy).length - NOT_KEPT.length);
      assert.deepEqual(problems, []);
      await context.close();
    });

    test('is fit for screen readers, on phones, by day and by night',
         async () => {
      const {address} = await startServer(suite, 'plain');
      const phone = name === 'Chromium' ?
        {isMobile: true, hasTouch: true, deviceScaleFactor: 2} :
        {};
      const {page, problems, context} = await visit(
          browser, address, {viewport: PHONE, ...phone, colorScheme: 'light'});
      const offers = await page.$$eval(
          '.analysis .offers button', (all) => all.map((each) => each.offsetTop));
      assert.equal(new Set(offers).size, 1, 'beside each other');
      await letPlay(page, 'high_kings_l1');
      const look = async (part) => {
        // The same elements and colours in both browsers.
        if (name === 'Chromium') await checkAccess(page, part);
        assert.deepEqual(problems, []);
        await takePicture(page, `site_${name.toLowerCase()}_${part}`);
        // For pictures Playwright adds a style, which the page's policy forbids.
        problems.length = 0;
      };
      for (const light of ['day', 'night']) {
        await look(`${light}_board`);
        // Nothing is beside the screen, also where a scrollbar takes some of it.
        assert.ok(await page.evaluate(`
          document.documentElement.scrollWidth ===
              document.documentElement.clientWidth`));
        for (const dialog of ['new-game', 'file', 'help']) {
          await page.click(`#${dialog}-button`);
          await page.waitForSelector('dialog[open]');
          await look(`${light}_${dialog}`);
          await page.keyboard.press('Escape');
          await page.waitForFunction('!document.querySelector("dialog[open]")');
        }
        await page.click('#set-up-button');
        await page.waitForSelector('body.editing');
        await look(`${light}_editor`);
        await page.click('[data-do="cancel-position"]');
        await page.waitForSelector('body:not(.editing)');
        await page.click('#theme-button');
      }
      await page.goto(`${address}rules.html`);
      await look('rules');
      // A phone shows its sections, not all of their text, and in the page's type.
      assert.ok(await page.evaluate('document.body.scrollHeight') < 6000);
      assert.equal(
          await page.evaluate(async () => {
            await document.fonts.ready;
            return [...document.fonts]
                .filter(({status}) => status === 'loaded').length >= 2;
          }),
          true);
      // A link into a section opens it.
      await page.evaluate(() => { location.hash = '#101-rule-options'; });
      await page.waitForSelector('details[open] [id="101-rule-options"]');
      await context.close();
    });
  });
}

describe('an exported page where a browser keeps nothing', () => {
  const suite = suiteContext();
  let browser;
  let address;
  before(async () => {
    browser = await startBrowser(suite);
    ({address} = await startServer(suite, 'plain'));
  });

  for (const [how, script] of [
    ['has no', `Object.defineProperty(
        Navigator.prototype, 'serviceWorker', {value: undefined})`],
    ['refuses', `ServiceWorkerContainer.prototype.register =
        () => Promise.reject(new Error('refused'))`],
  ]) {
    test(`plays where it ${how} service workers`, async () => {
      const {page, problems, context} = await visit(browser, address, {script});
      await letPlay(page, 'stone_of_destiny');
      assert.equal(await isKept(page), false);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('plays when its storage is full', async () => {
    const context = await browser.newContext({reducedMotion: 'reduce'});
    const page = await context.newPage();
    const problems = watchPage(page, {allowed: address});
    const session = await context.newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', {
      origin: new URL(address).origin,
      quotaSize: 1e5,
    });
    await begin(page, address);
    await page.waitForFunction(async () => {
      const found = await navigator.serviceWorker.getRegistration();
      return found === undefined || found.active === null;
    });
    await letPlay(page, 'stone_of_destiny');
    await begin(page);
    await letPlay(page, 'stone_of_destiny');
    assert.deepEqual(problems, []);
    await context.close();
  });
});
