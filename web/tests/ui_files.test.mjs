// Games and bundles that come in and go out, undo, seats and hints.

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {before, describe} from 'node:test';

import {outputFile} from './harness.mjs';
import {
  atPly, boardState, build, changed, clickAction, DESKTOP, drop, newGame,
  openFiles, pauseComputer, PHONE, randomNumbers, reload, savedGame, settled,
  startSite, takePicture, waitForName, waitForText, waitForToast, waitForTurn,
} from './ui_page.mjs';

describe('games that come and go', () => {
  const site = startSite();

  // Shows the rule options of a game between people.
  const openOptions = async (page, variant) => {
    await page.click('#new-game-button');
    await page.click(`label:has(input[value="${variant}"])`);
    await page.click('input[name="seating"][value="people"]');
    await page.click('[data-do="options"]');
  };

  site.shared(
      'a game saved to a file and loaded again is the same', async (page) => {
    const random = randomNumbers(3);
    await newGame(page, 'high_kings_l2', 'people');
    for (let i = 0; i < 8; ++i) await clickAction(page, random);
    const text = await savedGame(page);
    await openFiles(page);
    const [download] = await Promise.all(
        [page.waitForEvent('download'), page.click('[data-do="download"]')]);
    const path = outputFile('saved-game.json');
    await download.saveAs(path);
    assert.equal((await readFile(path, 'utf8')).trim(), text);
    await page.click('#game-file [aria-label="Close"]');

    await newGame(page, 'four_treasures', 'people');
    await openFiles(page);
    await page.setInputFiles('#game-file input[type="file"]', path);
    await page.waitForSelector('#board[data-ply="8"]');
    assert.equal(await savedGame(page), text);
    assert.equal(
        await page.textContent('#variant-name'), 'High Kings of Tara, Level 2');
  });

  site.shared(
      'a dialog closes by a click beside it, not by a drag out of it',
      async (page) => {
    await openFiles(page);
    const text = await page.locator('#game-text').boundingBox();
    await page.mouse.move(text.x + 99, text.y + 9);
    await page.mouse.down();
    await page.mouse.move(9, text.y + 9);
    await page.mouse.up();
    assert.ok(await page.isVisible('#game-file'));
    await page.mouse.click(9, text.y + 9);
    await page.waitForSelector('#game-file', {state: 'hidden'});
  });

  site.shared(
      'rule options go with a game, in its short form too', async (page) => {
    await openOptions(page, 'stone_of_destiny');
    await page.uncheck('input[name="option:link_all_at_end"]');
    // What cannot be is shown, also where the options were folded shut.
    await page.fill('input[name="option:no_progress_limit"]', '0');
    await page.click('#new-game summary');
    await page.click('#new-game button[type="submit"]');
    await page.waitForSelector('#new-game[open] details[open]');
    await page.fill('input[name="option:no_progress_limit"]', '7');
    await page.click('#new-game button[type="submit"]');
    await waitForName(
        page, 'Stone of Destiny, no progress limit 7, without link all at end');
    await build(page, 'D4');
    await page.click('#help-button');
    assert.match(
        await page.textContent('#help .rules'),
        /This game has other rules\. No progress limit 7: .* Without link all/);
    await page.click('#help [aria-label="Close"]');
    const {options} = JSON.parse(await savedGame(page));
    assert.deepEqual(options, {no_progress_limit: 7, link_all_at_end: false});
    await openFiles(page);
    await page.click('[data-do="short"]');
    const short = await page.inputValue('#game-text');
    assert.equal(
        short,
        'stone_of_destiny no_progress_limit=7,link_all_at_end=false D4');
    await changed(page, () => page.click('[data-do="load"]'));
    assert.deepEqual(JSON.parse(await savedGame(page)).options, options);
  });

  site.shared(
      'compensation and the pie rule are chosen, and the swap is made',
      async (page) => {
    await openOptions(page, 'poisoned_chalice');
    await page.fill('input[name="option:compensation"]', '-2.5');
    await page.check('input[name="option:pie_rule"]');
    await page.click('#new-game button[type="submit"]');
    await waitForName(
        page, 'Poisoned Chalice, compensation \u22122.5, pie rule');
    await page.waitForSelector(
        '.guide:has-text("This game has other rules. Pie rule: Blue, ")');
    await build(page, 'B7');
    assert.equal(
        (await page.textContent('[data-do="pass"]')).trim(), 'Swap');
    await page.click('[data-do="pass"]');
    await waitForTurn(page, 1);
    const {steps, options} = JSON.parse(await savedGame(page));
    assert.deepEqual(steps.map(({action}) => action), ['B7', 'swap']);
    assert.deepEqual(options, {compensation: -2.5, pie_rule: true});
    assert.match(
        await page.getAttribute('[data-hill="G2"]', 'aria-label'), /Blue/);
  });

  site.shared(
      'says what is wrong with a text, and keeps the game', async (page) => {
    await newGame(page, 'sacred_hill_l1', 'people');
    await build(page, 'D4');
    await openFiles(page);
    for (const [text, pattern] of [
      ['', /./],
      ['four_leaves D4', /four_leaves/],
      ['sacred_hill_l1 D4 E5 D9', /D9/],
      ['{"variant": "sacred_hill_l1"', /./],
    ]) {
      // What was said of the text before is no answer to this one.
      await page.$eval('#game-file .note', (note) => note.textContent = '');
      await page.fill('#game-text', text);
      await page.click('[data-do="load"]');
      await waitForText(page, '#game-file .note.error', pattern);
    }
    await page.fill('#game-text', 'sacred_hill_l1 B3 E5');
    await page.click('[data-do="load"]');
    await page.waitForSelector('#board[data-ply="2"]');
  });

  site.shared(
      'a dropped file that is no bundle is refused in words', async (page) => {
    await drop(page, 'holiday.tara', 'no zip at all');
    await waitForToast(page, '.error');
    assert.match(
        await page.textContent('.toast'),
        /^holiday.tara was not loaded: not a usable model/);
    await waitForText(page, '[aria-label="Network"]', /No network/);
    await drop(page, 'holiday.jpg', [0xff, 0xd8, 0xff, 0, 1, 2, 3]);
    await waitForToast(page, '.error:has-text("holiday.jpg is neither")');
  });

  site.shared(
      'a game can be dropped on the page, whatever the file is called',
      async (page) => {
    for (const [i, name] of ['game.txt', 'game', 'a.tara'].entries()) {
      const hills = ['D4', 'D5', 'D6', 'D7'].slice(0, i + 2);
      await drop(page, name, `stone_of_destiny ${hills.join(' ')}\n`);
      await atPly(page, hills.length);
      await waitForName(page, 'Stone of Destiny');
    }
  });

  site.shared(
      'of several games in a file the first is loaded, which is said',
      async (page) => {
    const line = (variant) =>
        JSON.stringify({variant, steps: [{action: 'D4'}]});
    await drop(
        page, 'games.jsonl',
        `${line('four_treasures')}\n${line('high_kings_l1')}\n`);
    await waitForToast(
        page, ':has-text("Only the first of 2 games was loaded.")');
  });

  site.shared(
      'a question about an action goes with its position', async (page) => {
    await newGame(page, 'high_kings_l2', 'people');
    // Blue's king on B1 may move to C3 with or without sacrificing the ringfort.
    const board = 'rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrbrrrr/rrrRrrB/Brrrr';
    const position = (withoutProgress) =>
        `high_kings_l2 ${board} 1 battle - 1,0 ${withoutProgress} - -`;
    await changed(page, () => drop(page, 'first', position(0)));
    for (const [i, arrive] of [
      () => drop(page, 'second', position(1)),
      // While the dialog is open.
      () => page.evaluate((text) => { location.hash = text; },
                          position(2).replaceAll(' ', '+')),
    ].entries()) {
      await settled(page);
      await page.click('[data-hill="B1"]');
      await page.waitForSelector('[data-use="end"]');
      await page.click('[data-hill="C3"]');
      await page.waitForSelector('#choice[open]');
      // It stays while the position does.
      await drop(page, `holiday${i}.jpg`, [0xff, 0xd8]);
      await waitForToast(page, `.error:has-text("holiday${i}.jpg is neither")`);
      assert.ok(await page.isVisible('#choice'));
      await changed(page, arrive);
      assert.equal(await page.isVisible('#choice'), false);
      assert.equal(await savedGame(page), position(i + 1));
    }
  });

  site.shared('a hint goes with its position', async (page) => {
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      await newGame(page, 'four_treasures', 'people');
      await build(page, 'D4');
      await page.click('[data-do="hint"]');
      await page.waitForSelector('.hint-ring');
      // The best three, with values and lines, where they are seen.
      const panel = page.locator('.analysis');
      await page.waitForFunction(
          (height) => document.querySelector('.lines').getBoundingClientRect()
                          .bottom < height,
          viewport.height);
      // It has ended, if by its time.
      await page.waitForSelector('[data-do="hint"]:enabled');
      const lines = panel.locator('.line');
      assert.equal(await lines.count(), 3);
      for (const text of await lines.allTextContents()) {
        assert.match(text, /^\d .. \d+\s% to win, then ../);
      }
      assert.deepEqual(
          await page.locator('.hint-rank').allTextContents(), ['1', '2', '3']);
      const value = await panel.locator('.legend').textContent();
      assert.match(
          value, /^After \d+ simulations: Red \d+\s% · Blue \d+\s%, /);
      // The same is said of the position everywhere.
      const said = await page.textContent('.chances');
      assert.ok(value.includes(`: ${said}.`), said);
      await takePicture(page, `hint-${viewport.width}`);
      await page.click('[data-do="undo"]');
      await page.waitForSelector('.lines', {state: 'hidden'});
      await page.click('[data-do="redo"]');
      await page.waitForSelector('#board[data-ply="1"]');
      await page.locator('.chances').getByText(said, {exact: true}).waitFor();
    }
  });

  site.test(
      'a page that does not start says what is missing', {mayFail: true},
      async (page) => {
    await page.route('**/worker*.js', (route) => route.abort());
    await page.reload();
    await page.locator('#start-note').getByText(
        /^The page could not start: .*\/worker\S*\.js cannot be loaded$/)
        .waitFor();
  });

  for (const viewport of [DESKTOP, PHONE]) {
    site.shared(
        `an illegal hill is refused with the rule, ${viewport.width} wide`,
        {viewport}, async (page) => {
      await newGame(page, 'sacred_hill_l1', 'people');
      for (const [hill, other, reason] of [
        ['D4', 'D4', 'A Red ringfort stands on D4: captures begin with Battle.'],
        ['A2', 'D5', 'D5 is too near to D4: nearer than a knight’s move.'],
        ['E6', 'G2', 'G2 is not a knight’s move from a Blue ringfort.'],
      ]) {
        const {ply} = await boardState(page);
        await page.click(`[data-hill="${hill}"]`);
        await waitForTurn(page, ply);
        await page.click(`[data-hill="${other}"]`, {force: true});
        await page.locator('.told.shown').getByText(reason).waitFor();
        const told = await page.locator('.told').boundingBox();
        const board = await page.locator('#board').boundingBox();
        const cell = await page.locator(`[data-hill="${other}"]`).boundingBox();
        assert.ok(told.x >= board.x - 1);
        assert.ok(told.x + told.width <= board.x + board.width + 1);
        assert.ok(
            told.y < cell.y + 1.5 * cell.height &&
                told.y + told.height > cell.y - cell.height / 2,
            'near the hill');
        assert.equal((await boardState(page)).ply, ply + 1);
      }
      await takePicture(page, `refused-${viewport.width}`);
      // It goes with the next action.
      await page.click('[data-hill="C3"]');
      await page.waitForSelector('.told.shown', {state: 'detached'});
    });
  }

  site.shared(
      'the rule of the turn is shown until it is hidden', async (page) => {
    await newGame(page, 'stone_of_destiny', 'people');
    const guide = page.locator('.guide');
    await guide.getByText(/^Manoeuvres: build exactly one or two steps/)
        .waitFor();
    // A drawing is with it in the first turns of a phase.
    await guide.locator('.drawing').waitFor();
    await build(page, 'D4', 'C3');
    await guide.locator('.drawing').waitFor({state: 'detached'});
    await guide.getByText('All rules').click();
    await page.waitForSelector('#help[open] .drawing svg');
    await page.keyboard.press('Escape');
    await page.click('[aria-label="Hide the rule of the turn"]');
    await guide.waitFor({state: 'hidden'});
    await reload(page);
    await build(page, 'B3');
    assert.equal(await guide.isVisible(), false);
    await page.click('#help-button');
    await page.check('#help input[type="checkbox"]');
    await page.keyboard.press('Escape');
    await guide.waitFor();
  });

  site.shared('a click in the computer’s turn is answered, too', async (page) => {
    await newGame(page, 'four_treasures', 'watch', 'level:10');
    await pauseComputer(page);
    await page.click('[data-hill="D4"]', {force: true});
    await page.waitForSelector('.told.shown:has-text("press Continue")');
    const {ply} = await boardState(page);
    await page.click('[data-do="pauseOrResume"]');
    await page.waitForSelector(`#board:not([data-ply="${ply}"])`);
  });

  site.shared(
      'undo against the computer goes back to the person’s turn',
      async (page) => {
    await newGame(page, 'sacred_hill_l1', 'red');
    await build(page, 'D4');
    assert.equal((await boardState(page)).ply, 2);
    await page.click('[data-do="undo"]');
    const back = await waitForTurn(page, 2);
    assert.deepEqual([back.ply, back.actions], [0, 2]);
    await page.click('[data-do="redo"]');
    assert.equal((await waitForTurn(page, 0)).ply, 2);
    await page.click('[data-do="undo"]');
    await waitForTurn(page, 2);
    // The same action again goes on in the game, another one does not.
    await page.click('[data-hill="D4"]');
    await waitForTurn(page, 0);
    assert.match(await savedGame(page), /"D4"/);
    await page.click('[data-do="undo"]');
    await waitForTurn(page, 2);
    await build(page, 'C3');
    assert.equal((await boardState(page)).ply, 2);
    assert.match(await savedGame(page), /"C3"/);
  });

  site.shared('a king is dragged to where it goes', async (page) => {
    const random = randomNumbers(11);
    await newGame(page, 'high_kings_l1', 'people');
    for (let i = 0; i < 6; ++i) await clickAction(page, random);
    const before = await boardState(page);
    const {starts: [from]} = before;
    await page.mouse.click(from.x, from.y);
    const {ends: [to]} = await boardState(page, before);
    await page.keyboard.press('Escape');
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, {steps: 4});
    await page.mouse.up();
    await waitForTurn(page, 6);
    assert.match(
        await savedGame(page), new RegExp(`"${from.name}-${to.name}"`));
  });

  site.shared(
      'hint and policy are shown, and any seat can change its player',
      async (page) => {
    await newGame(page, 'four_treasures_doubles', 'people');
    await page.click('[data-do="hint"]');
    await page.waitForSelector('.hint-ring');
    await page.click('[data-do="heat"]');
    await page.waitForSelector('.heat');
    // Without a network; ui_network.test.mjs has one.
    await page.waitForSelector('.legends:has-text("without a network")');
    await page.focus('[aria-label="Who plays Blue West"]');
    await page.selectOption('[aria-label="Who plays Blue West"]', 'level:1');
    // The field keeps the focus: the next key may change the player again.
    assert.equal(
        await page.evaluate(
            () => document.activeElement.closest('.seat')?.dataset.seat),
        '1');
    await build(page, 'D4');
    const state = await boardState(page);
    assert.equal(state.ply, 2);
  });
});
