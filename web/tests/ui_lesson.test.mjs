// What a newcomer is shown: the score on the board, besieged ringforts, and a
// lesson for each family of variants.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';

import {checkAccess, loadCore, moduleLoader, randomGame} from './harness.mjs';
import {
  DESKTOP, drop, newGame, PHONE, randomNumbers, startSite, takePicture,
  waitForText,
} from './ui_page.mjs';

const core = await loadCore();
Object.assign(core, {known: core.catalogue()});
const load = moduleLoader();
const {countedHills, kingdomsOf} = await load('/src/ui/score.ts');
const {LESSONS} = await load('/src/ui/lessons.ts');
const {gameFromText} = await load('/src/engine/game_text.ts');

describe('what a count counts', () => {
  test('is as many as the rules count, in games of all variants', () => {
    const random = randomNumbers(8);
    for (const {id} of core.catalogue().variants) {
      for (const {text, view} of randomGame(core, id, random)) {
        for (const side of [0, 1]) {
          const kingdoms = kingdomsOf(view, side);
          assert.equal(kingdoms.length, view.score.kingdoms[side], text);
          assert.equal(kingdoms.flat().length, view.score.territory[side]);
        }
      }
    }
  });

  const viewOf = (text) => core.view(core.completePosition(text).value);

  test('is shown: hills, bridges, or nothing', () => {
    const view = viewOf('four_treasures 5/7/2rr3/2r1r2/2br3/3b3/5 0 battle');
    const counted = (count) => countedHills(view, {count, side: 0});
    assert.deepEqual(
        counted('kingdoms').groups.map(({length}) => length).sort(), [1, 1, 3]);
    assert.equal(counted('territory').groups.length, 5);
    assert.equal(counted('bridges').bridges.length, 2);
    assert.equal(counted('points'), null);
  });

  test('besieged ringforts are those of the drawing of the rules', () => {
    const board = '5/7/r3r2/br1rbr1/r3r2/1r5/br3';
    const {hills} = core.catalogue().geometry;
    const {besieged} = viewOf(`sacred_hill_l1 ${board} 0 battle`);
    assert.deepEqual(
        besieged.map((hill) => hills[hill].name), ['B1', 'A4', 'E4']);
  });
});

test('the lessons go by the rules, and their last action wins', () => {
  const at = (text) => {
    const game = gameFromText(core, text);
    return game.positionAt(game.ply);
  };
  for (const [family, steps] of Object.entries(LESSONS)) {
    let position;
    for (const {position: text, task, good, shows} of steps) {
      if (text !== '') position = at(text);
      assert.ok(task !== undefined || shows !== undefined, family);
      if (task === undefined) continue;
      assert.equal(position.side, 0, text);
      const legal = position.legal.map(({notation}) => notation);
      const does = good ?? legal;
      for (const action of does) assert.ok(legal.includes(action), action);
      position = at(`${position.text} ${does[0]}`);
    }
    assert.ok(position.finished, family);
    assert.equal(position.score.winner, 0, family);
  }
});

describe('a newcomer', () => {
  const site = startSite();

  for (const viewport of [DESKTOP, PHONE]) {
    site.shared(
        `sees kingdoms and besieged ringforts on the board, ${viewport.width} wide`, {viewport},
        async (page) => {
      await drop(
          page, 'game',
          'sacred_hill_l1 5/3r3/2rbr2/3r3/4b2/4bb1/5 0 battle - 0,0 0 - -');
      await page.waitForSelector('.mark-badge.besieged');
      await waitForText(page, '.chances', /%/);
      assert.equal(
          await page.getAttribute('[data-hill="D5"]', 'aria-label'),
          'D5, Blue ringfort, besieged, capture it');
      const board = await page.locator('#board').boundingBox();
      const card = await page.locator('[aria-label="Course of the game"]')
                       .boundingBox();
      const kingdoms = page.locator('.side.red [data-count="kingdoms"]');
      await kingdoms.click();
      await page.waitForSelector('.mark-badge.red');
      assert.deepEqual(
          await page.locator('.mark-badge').allTextContents(),
          ['1', '2', '3', '4']);
      assert.equal(
          await page.textContent('.count-note'),
          'Red has 4 kingdoms, numbered on the board: groups of linked ' +
              'ringforts. Fewest kingdoms wins; if equal, most ringforts.');
      assert.equal(await kingdoms.getAttribute('aria-pressed'), 'true');
      // They are in sight, also from a card far below.
      assert.ok((await page.locator('#board').boundingBox()).y >= 0);
      await takePicture(page, `count-${viewport.width}`);
      await checkAccess(page, 'a count');
      // Nothing has moved.
      await page.evaluate(() => scrollTo(0, 0));
      assert.deepEqual(await page.locator('#board').boundingBox(), board);
      assert.deepEqual(
          await page.locator('[aria-label="Course of the game"]').boundingBox(),
          card);
      await kingdoms.click();
      await page.mouse.move(1, 1);
      await page.waitForSelector('.mark-badge.besieged');
      await page.waitForSelector('.count-note', {state: 'detached'});
    });
  }

  for (const [viewport, colorScheme] of
           [[DESKTOP, 'dark'], [PHONE, 'light'],
            [{width: 844, height: 390}, 'light']]) {
    site.shared(
        `takes the lesson, and begins a game, ${viewport.width} wide`,
        {viewport, colorScheme}, async (page) => {
      await newGame(page, 'sacred_hill_l1', 'people');
      // It is offered where it is seen.
      const offer =
          await page.locator('[data-do="first-lesson"]').boundingBox();
      assert.ok(offer.y + offer.height <= viewport.height);
      await page.click('[data-do="first-lesson"]');
      await page.waitForSelector('.turn-bar.exercise');
      await page.click('[data-do="lesson-leave"]');
      await newGame(page, 'sacred_hill_l1', 'red', 'level:3');
      await page.click('[data-hill="D4"]');
      await page.waitForSelector('#board[data-ply="2"]');
      assert.equal(await page.isVisible('[data-do="first-lesson"]'), false);
      await page.click('[data-do="lesson"]');
      const task = page.locator('.turn-bar.exercise');
      const at = (step) => task.getByText(`${step} of 5`).waitFor();
      const next = page.locator('[data-do="lesson-next"]');
      await at(1);
      await page.waitForSelector('.mark-badge.blue');
      await checkAccess(page, 'the lesson');
      await takePicture(page, `lesson-${viewport.width}`);
      await next.click();
      await at(2);
      assert.ok(await next.isDisabled());
      // What is illegal has a reason.
      await page.click('[data-hill="C4"]', {force: true});
      await page.waitForSelector('.told.shown:has-text("C4 is too near to C5")');
      await page.click('[data-hill="D3"]');
      await task.getByText('Well done').waitFor();
      await next.click();
      await at(3);
      // What is legal but does not do, too.
      await page.click('[data-hill="B4"]');
      await page.waitForSelector(
          '.told.shown:has-text("That hill is next to one of your kingdoms")');
      await page.click('[data-hill="C6"]');
      await task.getByText('You have one kingdom now.').waitFor();
      await next.click();
      await at(4);
      await page.click('[data-do="lesson-back"]');
      await at(3);
      // The game is as it was.
      await page.click('[data-do="lesson-leave"]');
      await page.waitForSelector('#board[data-ply="2"][data-waits="true"]');
      await page.click('[data-do="lesson"]');
      await at(1);
      await next.click();
      await at(2);
      // By keyboard: the board has the focus when an action is due.
      await page.click('[data-do="lesson-back"]');
      await at(1);
      await next.press('Enter');
      await page.waitForSelector('[data-hill]:focus');
      await page.focus('[data-hill="D3"]');
      await page.keyboard.press('Enter');
      await task.getByText('Well done').waitFor();
      for (const hill of ['C5', 'D5', 'A4']) {
        await next.click();
        await task.getByText('Your turn').waitFor();
        await page.click(`[data-hill="${hill}"]`);
        await task.getByText('Well done').waitFor();
      }
      await page.click('[data-do="lesson-play"]');
      await page.waitForSelector('#board[data-ply="0"][data-waits="true"]');
      assert.equal(
          await page.inputValue('[aria-label="Who plays Blue"]'), 'level:1');
      assert.equal(await page.isVisible('.turn-bar.exercise'), false);
    });
  }
});
