// An opening book in the page: its entries are those of the program, however
// the board is turned.

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {before, describe, test} from 'node:test';

import {tara, temporaryFolder} from '../../tests/js/tara.mjs';
import {checkAccess, moduleLoader, suiteContext} from './harness.mjs';
import {
  atPly, DOUBLE, newGame, PHONE, randomNumbers, reload, startSite,
  takePicture,
} from './ui_page.mjs';

const VARIANT = 'high_kings_l1';

describe('an opening book', () => {
  const load = moduleLoader();
  const site = startSite();
  const context = suiteContext();
  let book;
  let file; // its page
  const run = async (...args) => {
    const result = await tara(args);
    assert.equal(result.status, 0, result.stderr);
    return result.stdout;
  };
  before(async () => {
    const folder = await temporaryFolder(context);
    book = path.join(folder, 'openings.db');
    file = path.join(folder, 'openings.html');
    await run('explore', 'build', book, '--variant', VARIANT,
              '--positions', '150', '--player', 'mcts:sims=100');
    await run('explore', 'show', book, '--variant', VARIANT, '--html', file);
  });

  // What the program has on the position after these actions.
  const entryOf = async (actions) => JSON.parse(await run(
      'explore', 'show', book, '--variant', VARIANT, '--format', 'json',
      '--actions', actions.join(' ')));

  const open = async (page, files) => {
    await page.click('#file-button');
    const [chooser] = await Promise.all(
        [page.waitForEvent('filechooser'), page.click('[data-do="open"]')]);
    await chooser.setFiles(files);
  };
  const rows = (page) => page.$$eval('#openings .line', (lines) =>
    lines.map((line) => [
      line.querySelector('strong').textContent,
      line.querySelector('.chance').textContent,
    ]));

  test('has the entries of the program, however the board is turned', async () => {
    const {Book} = await load('/src/ui/book.ts');
    const read = Book.read(await readFile(file, 'utf8'));
    const random = randomNumbers(5);
    const pick = (list) => list[Math.floor(random() * list.length)];
    for (let line = 0; line < 6; ++line) {
      const played = [];
      for (;;) {
        const found = read.entry(played);
        if (found === null) break;
        const entry = await entryOf(played);
        assert.equal(found.winning, entry.winning, played.join(' '));
        // The program has the position as it is, and another action of those
        // that are the same may stand for them.
        const values = new Map(entry.actions.flatMap(
            ({actions, winning}) => actions.map((each) => [each, winning])));
        for (const row of found.rows) {
          assert.ok(values.has(row.notation), `${row.notation} at ${played}`);
          assert.equal(values.get(row.notation), row.winning);
        }
        const known = entry.actions.filter(({known}) => known);
        if (known.length === 0) break;
        played.push(pick(pick(known).actions));
      }
      assert.ok(played.length > 0);
    }
    assert.equal(read.entry(['A9']), null);
  });

  site.test('shows its entries next to the board', async (page) => {
    await open(page, file);
    await page.waitForSelector('#openings:not([hidden])');
    assert.match(await page.textContent('#openings p'), /No opened book is of/);
    await newGame(page, VARIANT, 'people');
    const played = [];
    for (let ply = 0; ply < 4; ++ply) {
      const entry = await entryOf(played);
      const shown = await rows(page);
      const first = entry.actions[0];
      assert.ok(first.actions.includes(shown[0][0]), `${shown[0]} at ${ply}`);
      assert.equal(shown[0][1], `${Math.round(100 * first.winning)}\u00a0%`);
      assert.match(
          await page.textContent('#openings p'),
          new RegExp(`: ${Math.round(100 * entry.winning)}\\u00a0% for the side`));
      if (ply === 0) {
        await takePicture(page, 'openings_desktop');
        await checkAccess(page, 'openings');
        // By the board, at an image of the action in the list.
        const image = first.actions.at(-1);
        played.push(image);
        await page.click(`[data-hill="${image}"]`);
      } else {
        played.push(shown[0][0]);
        await page.click('#openings .line', DOUBLE); // plays it once
      }
      await atPly(page, played.length);
    }
    // It is open at the next visit, until it is closed.
    const said = await page.textContent('#openings p');
    await reload(page);
    await page.locator('#openings p').getByText(said).waitFor();
    await page.setViewportSize(PHONE);
    await page.locator('#openings').scrollIntoViewIfNeeded();
    await takePicture(page, 'openings_phone');
    await page.click('[aria-label="Close the books"]');
    await page.locator('#openings').waitFor({state: 'hidden'});
    await reload(page);
    assert.ok(await page.isHidden('#openings'));
  });

  site.test('is refused when it is damaged', async (page) => {
    const text = await readFile(file, 'utf8');
    await open(page, {
      name: 'damaged.html',
      mimeType: 'text/html',
      buffer: Buffer.from(text.replace('"places":', '"pages":')),
    });
    await page.waitForSelector(
        '.note.error:has-text("this report has no opening book")');
    assert.ok(await page.isHidden('#openings'));
  });
});
