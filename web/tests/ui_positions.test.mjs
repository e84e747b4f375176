// Positions that are set up, links to positions and games, and pictures.

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {describe} from 'node:test';

import {checkAccess, outputFile} from './harness.mjs';
import {
  atPly, boardState, build, drop, fillStorage, follow, newGame, PHONE, reload,
  savedGame, settled, startSite, takePicture, waitForName, waitForText,
  waitForToast, waitForTurn,
} from './ui_page.mjs';

const POSITION = 'four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - -';
const FULL_STONE =
    'stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr ' +
    '1 battle - 0,0 0 - -';

describe('positions', () => {
  const site = startSite();

  const CLIPBOARD = {permissions: ['clipboard-read', 'clipboard-write']};
  const clipboard = (page) =>
      page.evaluate(() => navigator.clipboard.readText());

  const openEditor = async (page) => {
    await page.click('#set-up-button');
    await page.waitForSelector('body.editing');
    // The engine's answer writes the text of the position, whatever is in it.
    await verdict(page).filter({hasText: /./}).waitFor();
  };
  const choose = (page, name) =>
      page.check(`.palette input[aria-label="${name}"]`, {force: true});
  const verdict = (page) => page.locator('.turn-bar.editor .request');
  const waitForVerdict = (page, text) =>
      verdict(page).getByText(text).waitFor();
  const shownPosition = (page) => page.inputValue('#editor-text');

  site.shared(
      'are set up by pointing, played on, kept, and analysed', async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4');
    await openEditor(page);
    assert.equal(await page.isVisible('.toolbar'), false);
    await waitForVerdict(page, 'Manoeuvres: Blue to move');
    await page.selectOption('.editor [aria-label="Variant"]', 'four_treasures');
    await page.click('[data-hill="C4"]');
    await choose(page, 'Blue ringfort');
    await page.click('[data-hill="D4"]');
    await page.click('[data-hill="E4"]');
    await page.click('[data-hill="E4"]'); // again: taken away
    await page.selectOption('.editor [aria-label="To move"]', '0');
    await waitForVerdict(page, 'Battle: Red to move');
    assert.equal(await shownPosition(page), POSITION);
    await takePicture(page, 'editor-desktop');
    await checkAccess(page, 'by day');
    await page.emulateMedia({colorScheme: 'dark'});
    await takePicture(page, 'editor-desktop-dark');
    await checkAccess(page, 'by night');
    // What is saved meanwhile is what the board shows.
    assert.equal(await savedGame(page), POSITION);
    assert.equal(await page.isHidden('[data-do="picture"]'), true);
    await page.click('[data-do="play-position"]');
    await page.waitForSelector('body:not(.editing)');
    await atPly(page, 0);
    assert.equal(
        await page.textContent('#variant-name'),
        'Four Treasures, from a set-up position');
    await build(page, 'C5');
    assert.equal(await savedGame(page), `${POSITION} C5`);
    // It comes back, and the game before it is among the recent ones.
    await reload(page);
    await atPly(page, 1);
    assert.equal(await savedGame(page), `${POSITION} C5`);
    await page.click('#file-button');
    await page.getByText('This game begins from a custom position').waitFor();
    await page.click('[data-kept]:has-text("Sacred Hill, Level 1")');
    await waitForName(page, 'Sacred Hill, Level 1');
    await page.click('#file-button');
    await page.getByText('1 action from a set-up position').waitFor();
  });

  site.shared(
      'that cannot be have a reason, and are not played',
      {viewport: PHONE}, async (page) => {
    await newGame(page, 'high_kings_l2', 'people');
    await openEditor(page);
    await page.selectOption('.editor [aria-label="To move"]', '1');
    await page.click('[data-hill="D4"]');
    await waitForVerdict(
        page, 'Not possible: Red has 0 kings on the board; expected 1');
    assert.ok(await page.isDisabled('[data-do="play-position"]'));
    await takePicture(page, 'editor-phone-impossible');
    await choose(page, 'Red king');
    await page.click('[data-hill="D4"]');
    await waitForVerdict(page, 'Placement: Blue to move');
    assert.ok(await page.isEnabled('[data-do="play-position"]'));
    await page.click('[data-do="clear-board"]');
    await page.selectOption('.editor [aria-label="Phase"]', 'battle');
    await waitForVerdict(
        page, 'Not possible: Red has 0 kings on the board; expected 3');
    // Nothing has become of the game.
    await page.click('[data-do="cancel-position"]');
    await page.waitForSelector('body:not(.editing)');
    assert.equal((await boardState(page)).ply, 0);
    assert.match(await savedGame(page), /"high_kings_l2"/);
  });

  site.shared('of Stone of Destiny have bridges', async (page) => {
    await openEditor(page);
    await page.fill('#editor-text', FULL_STONE);
    await page.press('#editor-text', 'Enter');
    await waitForVerdict(page, 'Battle: Blue to move');
    await choose(page, 'Bridge');
    // By its middle, and by its ends in either order.
    await page.locator('[data-link="B7=C7"]').click();
    await page.click('[data-hill="B5"]');
    await page.waitForSelector('.chosen-ring');
    await page.click('[data-hill="A5"]');
    await waitForText(page, '#editor-text', / A5=B5,B7=C7 /);
    await page.locator('[data-link="B7=C7"]').click();
    await waitForText(page, '#editor-text', / battle A5=B5 /);
    await takePicture(page, 'editor-bridges');
    // A bridge goes with its ringfort.
    await choose(page, 'Remove');
    await page.click('[data-hill="A5"]');
    await waitForVerdict(page, 'Not possible: ');
    assert.match(await shownPosition(page), / 1 battle - /);
  });

  site.shared(
      'have the options of their variant, and are pasted as text',
      async (page) => {
    await openEditor(page);
    for (const [text, reason] of [
      ['chess', /^This text is not a position: .* 1 fields; expected 3 to 9/],
      ['four_treasures 5/7/7/7/7/7 0', /6 ranks; expected 7/],
      ['poisoned_chalice 5/7/7/3r3/7/7/5 1', /D4; expected only edge hills/],
      ['http://localhost/#%zz', /'%zz' is not text/],
    ]) {
      await page.fill('#editor-text', text);
      await page.press('#editor-text', 'Enter');
      await waitForText(page, '.editor .note', reason);
      // It stays to be put right, and nothing else is played instead of it.
      assert.equal(await shownPosition(page), text);
      assert.ok(await page.isDisabled('[data-do="play-position"]'));
      await page.$eval('.editor .note', (note) => note.textContent = '');
    }
    await page.fill(
        '#editor-text',
        'https://example.org/tara/#four_treasures+5/7/7/2rb3/7/7/5+0');
    await page.press('#editor-text', 'Enter');
    await waitForVerdict(page, 'Battle: Red to move');
    await page.click('.editor summary');
    await page.fill('.editor input[name="option:compensation"]', '2.5');
    await page.press('.editor input[name="option:compensation"]', 'Enter');
    await waitForText(page, '#editor-text', / compensation=2\.5$/);
    await page.check('.editor input[name="option:pie_rule"]');
    await waitForVerdict(
        page, 'Not possible: pie_rule is true with 2 ringforts');
  });

  site.shared('are played as their text has just been edited', async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await openEditor(page);
    // All at once: the engine has not answered when the button is pressed.
    await page.$eval('#editor-text', (field, text) => {
      field.value = text;
      field.dispatchEvent(new Event('change'));
      document.querySelector('[data-do="play-position"]').click();
    }, POSITION);
    await page.waitForSelector('body:not(.editing)');
    assert.equal(await savedGame(page), POSITION);
  });

  site.test('are set up by keyboard alone', async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await page.focus('#set-up-button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('body.editing');
    const focused = () => page.evaluate(
        () => document.activeElement.getAttribute('aria-label'));
    // The middle of the board.
    assert.equal(await focused(), 'D4, vacant, place Red ringfort');
    await page.keyboard.press('Enter');
    await page.keyboard.press('2');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector(
        ':focus[aria-label="E4, vacant, place Blue ringfort"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector(
        ':focus[aria-label="E4, Blue ringfort, remove it"]');
    assert.equal(
        await page.textContent('#announcements'), 'E4, Blue ringfort.');
    // The verdict was the same before; the text comes with the last answer.
    await waitForText(page, '#editor-text', /\/3rb2\//);
    await waitForVerdict(page, 'Battle: Red to move');
    // Keys of the game do nothing meanwhile.
    await page.keyboard.press('n');
    assert.equal(await page.isVisible('#new-game'), false);
    await page.focus('[data-do="analyse-position"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('body:not(.editing)');
    assert.equal(
        await savedGame(page),
        'four_treasures 5/7/7/3rb2/7/7/5 0 battle - 0,0 0 - -');
    for (const seat of ['Red', 'Blue']) {
      assert.equal(
          await page.inputValue(`[aria-label="Who plays ${seat}"]`), 'person');
    }
  });

  site.shared(
      'wait for the computer, which goes on when they are given up',
      async (page) => {
    // It thinks for long enough to be interrupted.
    await newGame(page, 'four_treasures', 'blue', 'level:10');
    await openEditor(page);
    await page.click('[data-hill="D4"]');
    await page.click('[data-do="cancel-position"]');
    assert.equal((await waitForTurn(page, 0)).ply, 1);
  });

  site.shared('are set up from the game that is on its way', async (page) => {
    const computer = page.locator('[data-do="pauseOrResume"]');
    await page.click('#new-game-button');
    await page.click('input[name="seating"][value="blue"]');
    await page.selectOption('select[name="level"]', 'level:10');
    // All at once: the engine has not answered when the editor is asked for.
    await page.evaluate(() => {
      document.querySelector('#new-game button[type="submit"]').click();
      document.querySelector('#set-up-button').click();
    });
    await page.waitForSelector('body.editing');
    assert.equal(await computer.textContent(), 'Continue');
    await page.click('[data-do="cancel-position"]');
    await waitForTurn(page, 0);

    // A game that waits for the computer, after one that does not.
    await drop(page, 'game', 'four_treasures D4 G6');
    await computer.getByText('Continue').waitFor();
    await newGame(page, 'sacred_hill_l1', 'red');
    await settled(page);
    await page.evaluate(() => {
      addEventListener(
          'hashchange',
          () => document.querySelector('#set-up-button').click(),
          {once: true});
      location.hash = '#four_treasures+D4+G6';
    });
    await page.waitForSelector('body.editing');
    await page.click('[data-do="cancel-position"]');
    await page.waitForSelector('body:not(.editing)');
    assert.equal(
        await page.textContent('#variant-name'), 'Four Treasures');
    assert.equal(await computer.textContent(), 'Continue');
  });

  site.test(
      'and games are linked to, and the game of the tab is kept',
      CLIPBOARD, async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4', 'E6');
    await page.click('#file-button');
    await page.click('[data-do="link"]');
    await page.getByText('Copied.').waitFor();
    const game = await clipboard(page);
    assert.equal(new URL(game).hash, '#sacred_hill_l1+D4+E6');
    await page.$eval('#game-file .note', (note) => note.textContent = '');
    await page.click('#game-file [data-do="link-position"]');
    await page.getByText('Copied.').waitFor();
    const position = await clipboard(page);
    assert.equal(
        new URL(position).hash,
        '#sacred_hill_l1+5/4b2/7/3r3/7/7/5+0+manoeuvres+-+0,0+0+-+%2D');
    await page.click('#game-file [aria-label="Close"]');

    // In this tab, which has another game by now.
    await newGame(page, 'four_treasures', 'people');
    await build(page, 'B3');
    await follow(page, new URL(position).hash);
    await atPly(page, 0);
    await waitForName(page, 'Sacred Hill, Level 1, from a set-up position');
    await waitForToast(page, ':has-text("A position of Sacred Hill, Level 1")');
    assert.equal(new URL(page.url()).hash, '');
    await build(page, 'F3');
    // A reload goes on with what was played.
    await reload(page);
    await atPly(page, 1);
    await page.click('#file-button');
    assert.equal(await page.locator('[data-kept]').count(), 2);
    await page.click('[data-kept]:has-text("Four Treasures")');
    await page.waitForSelector('#game-file', {state: 'hidden'});
    await atPly(page, 1);
    assert.match(await savedGame(page), /"B3"/);

    // In a new tab: the game that is kept, not a second one of it.
    const tab = await page.context().newPage();
    await tab.goto(game);
    await tab.waitForSelector('body.ready');
    await atPly(tab, 2);
    assert.equal(
        await tab.textContent('#variant-name'), 'Sacred Hill, Level 1');
    assert.deepEqual(
        await tab.evaluate(() => Object.keys(localStorage).filter(
            (key) => key.startsWith('tara.games.')).length),
        3);
  });

  site.shared('of links that are damaged cost nothing', async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await build(page, 'D4');
    for (const [fragment, reason] of [
      ['sacred_hill_l1+D4+D4', 'action 2: '],
      ['four_leaves+D4', "'four_leaves'"],
      ['%E0%A4%A', 'is not text'],
      ['high_kings_l1+5/7/7/3r3/7/7/5+1', 'Red has 0 kings on the board'],
    ]) {
      await follow(page, `#${fragment}`);
      await waitForToast(page, `.error:has-text("${reason}")`);
      assert.match(
          await page.textContent('.toast'), /^The link cannot be opened: /);
      assert.equal((await boardState(page)).ply, 1);
    }
    // By the address from the start, too.
    await page.goto(`${page.url()}#stone_of_destiny+D4+Z9`);
    await reload(page);
    await atPly(page, 1);
    assert.match(await savedGame(page), /"four_treasures"/);
  });

  site.test(
      'of links wait while the browser has no room for the game of the tab',
      async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await fillStorage(page);
    await build(page, 'D4');
    await follow(page, '#sacred_hill_l1+D4+E6');
    await waitForToast(page, '.error:has-text("the game in this tab would be lost")');
    assert.match(await savedGame(page), /"four_treasures"/);
  });

  site.shared('are saved as pictures', async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await build(page, 'D4');
    await page.click('#file-button');
    const [download] = await Promise.all(
        [page.waitForEvent('download'), page.click('[data-do="picture"]')]);
    assert.equal(download.suggestedFilename(), 'tara-position.svg');
    const path = outputFile('position.svg');
    await download.saveAs(path);
    const picture = await readFile(path, 'utf8');
    assert.match(picture, /^<svg [^]*Last action: D4\.[^]*<\/svg>\n$/);
    assert.equal(picture.match(/<g class="tara-red-ringforts"/g).length, 1);
  });
});
