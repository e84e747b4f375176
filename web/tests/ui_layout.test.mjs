// What the page looks like: sizes, light and dark. The pictures are in
// test-output, for people to look at.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe} from 'node:test';

import {root} from '../../tests/js/tara.mjs';
import {outputFile} from './harness.mjs';
import {
  clickAction, DESKTOP, drop, newGame, PHONE, randomNumbers, startSite,
  takePicture, waitForText,
} from './ui_page.mjs';

const SIZES = {
  phone: PHONE,
  'small-phone': {width: 320, height: 568},
  tablet: {width: 820, height: 1180},
  laptop: {width: 1024, height: 700},
  desktop: {width: 1440, height: 900},
  // Held across; and an ordinary window at twice the size of all text.
  'phone-across': {width: 844, height: 390},
  magnified: {width: 640, height: 430},
  window: {width: 800, height: 600},
};
// A game of High Kings in which Red has captured two kings.
const CAPTURES = readFileSync(
    path.join(root, 'tests/golden/high_kings_l2.jsonl'), 'utf8')
    .split('\n')
    .find((line) => /"kings_captured": ?\[2, ?[01]\]/.test(line));

const boxOf = (page, selector) =>
  page.locator(selector).first().boundingBox();
const right = ({x, width}) => x + width;
const bottom = ({y, height}) => y + height;
// Whether one box lies in another: a window, say.
const isIn = (box, {x = 0, y = 0, width, height}) =>
  box.x >= x && right(box) <= x + width &&
  box.y >= y && bottom(box) <= y + height + 0.5;
const isApart = (one, other) =>
  right(one) <= other.x || right(other) <= one.x ||
  bottom(one) <= other.y || bottom(other) <= one.y;

describe('the layout', () => {
  const site = startSite();

  for (const [name, viewport] of Object.entries(SIZES)) {
    site.shared(`fits a ${name}`, {viewport}, async (page) => {
      const checkWidth = async () => assert.ok(
          await page.evaluate(
              () => document.documentElement.scrollWidth <= innerWidth),
          'the page scrolls sideways');
      const toTop = () => page.evaluate(() => scrollTo(0, 0));
      await newGame(page, 'sacred_hill_doubles_l1', 'people');
      const random = randomNumbers(2);
      for (let i = 0; i < 6; ++i) await clickAction(page, random);
      await toTop();
      await checkWidth();
      const board = await boxOf(page, '#board');
      assert.ok(Math.abs(board.width - board.height) < 1, 'a square board');
      assert.ok(isIn(board, viewport), 'the whole board is seen');
      const tools = await boxOf(page, '.toolbar');
      assert.ok(isApart(tools, board), 'no button lies over the board');
      assert.ok(isIn(tools, viewport), 'the buttons are seen');
      assert.deepEqual(
          await page.$$eval('button', (all) => all
              .filter((each) => each.scrollWidth > each.clientWidth)
              .map((each) => each.textContent.trim())),
          [], 'no text is wider than its button');
      assert.ok(await page.$$eval('.side', (sides) => sides.every((side) => {
        const {left} = side.querySelector('.points-label').getBoundingClientRect();
        return [...side.querySelectorAll('select')].every(
            (each) => each.getBoundingClientRect().right <= left);
      })), 'no field lies over the points');
      await takePicture(page, `size-${name}`);
      for (const button of ['new-game', 'file', 'help']) {
        await page.click(`#${button}-button`);
        const dialog = page.locator('dialog[open]');
        await dialog.waitFor();
        const box = await dialog.boundingBox();
        assert.ok(isIn(box, viewport), button);
        assert.equal(
            await dialog.evaluate((element) => element.scrollTop), 0,
            'it begins at its top');
        if (button === 'new-game') {
          const begin = await boxOf(page, '#new-game [type="submit"]');
          assert.ok(isIn(begin, box), 'Begin');
          await takePicture(page, `new-game-${name}`);
          const options = page.locator('#new-game [data-do="options"]');
          assert.ok(isIn(await options.boundingBox(), box), 'Rule options');
          await options.click();
          const field = await boxOf(page, '#new-game .options input');
          assert.ok(
              field.y >= box.y && bottom(field) <= begin.y,
              'the first of them');
        }
        await dialog.evaluate((element) => element.scrollTop = 1e6);
        await page.keyboard.press('Escape');
        await dialog.waitFor({state: 'hidden'});
      }
      await toTop();
      await page.click('#set-up-button');
      await page.selectOption(
          '.editor [aria-label="Variant"]', 'high_kings_l2');
      await page.getByText('Not possible: ').waitFor();
      await toTop();
      await checkWidth();
      const hills = await boxOf(page, '#board');
      if (viewport.width >= 1024) {
        assert.equal(hills.y, board.y, 'the board stays where it is');
        assert.ok(await page.$$eval(
            '.palette span',
            (all) => all.every(
                (each) => each.getBoundingClientRect().bottom <= innerHeight)),
                  'all that hills are given is seen');
      }
      const labels = await page.$$eval(
          '.palette span', (all) => all.map((each) => each.textContent));
      assert.equal(new Set(labels).size, 7, labels.join());
      const palette = await boxOf(page, '.palette');
      assert.ok(
          isApart(palette, hills), 'what hills are given lies over no hill');
      assert.ok(palette.x >= 0 && right(palette) <= viewport.width);
      await takePicture(page, `editor-${name}`);
      if (name === 'small-phone') return; // it has no room for what follows

      // A question and a notice leave the game in sight.
      const areApart = async (one, other) =>
        isApart(await boxOf(page, one), await boxOf(page, other));
      await newGame(page, 'high_kings_l2', 'people');
      // Blue's king on B1 may move to C3 with or without sacrificing it.
      await drop(
          page, 'game',
          'high_kings_l2 rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrbrrrr/rrrRrrB/Brrrr 1 ' +
              'battle - 1,0 0 - -');
      await page.waitForSelector('.toast.shown');
      assert.ok(await areApart('.toast', '#new-game-button'), 'New game');
      await page.click('[data-hill="B1"]');
      await page.waitForSelector('[data-use="end"]');
      await page.click('[data-hill="C3"]');
      await page.waitForSelector('#choice[open]');
      assert.deepEqual(
          await page.locator('#choice [data-action]').allTextContents(),
          ['Go to C3 and keep it', 'Go to C3 and sacrifice it']);
      assert.ok(await areApart('#choice', '#board'), 'the board');
      await takePicture(page, `question-${name}`);
    });
  }

  for (const viewport of [DESKTOP, PHONE]) {
    site.test(
        `the first screen says what wins, and no numbers that puzzle, ${viewport.width} wide`, {viewport},
        async (page) => {
      const aim = page.locator('#aim');
      assert.equal(
          await aim.textContent(),
          'Fewest kingdoms wins; if equal, most ringforts.');
      const {y, height} = await aim.boundingBox();
      assert.ok(y >= 0 && y + height <= viewport.height);
      assert.deepEqual(await page.locator('.points').allTextContents(), ['–', '–']);
      // Neither when the position has been judged.
      await page.click('[data-do="heat"]');
      await page.waitForSelector('.heat');
      assert.equal(
          await page.textContent('.chances'), 'Shown once the game has begun.');
      assert.equal(await page.locator('.course :is(.plot-red, .plot-blue)').count(), 0);
      await page.click('[data-hill="D4"]');
      await page.waitForSelector('.course .plot-red');
      await waitForText(page, '.points', /\d/);
    });
  }

  for (const viewport of [{width: 1280, height: 700}, DESKTOP]) {
    site.shared(
        `tools and counts stand in one row, ${viewport.width} wide`, {viewport},
        async (page) => {
      await newGame(page, 'high_kings_l1', 'red');
      const rows = (selector) => page.$$eval(
          selector,
          (all) => new Set(
              all.filter((each) => !each.hidden).map((each) => each.offsetTop))
                       .size);
      // As many as there can be.
      await page.$$eval(
          '.toolbar button', (all) => all.forEach((each) => each.hidden = false));
      assert.equal(await rows('.toolbar button'), 1);
      await page.$$eval(
          '.side[data-side="0"] .counts strong', (all) => all.forEach((each, i) => {
            each.textContent = i === 0 ? '0' : '19';
          }));
      assert.equal(await rows('.side[data-side="0"] .counts button'), 1);
    });
  }

  site.shared(
      'the board stays where it is when the game ends', async (page) => {
    // The longest that is said of a result.
    await drop(
        page, 'game',
        'sacred_hill_l1 rrrbb/rrrrbbb/rrrbbbb/1bbbbbb/rrr1bbb/rrrrrbb/rrrrb 0 ' +
            'battle - 0,0 0 out:1 -');
    await page.waitForSelector('[data-hill="A4"][data-use]');
    const board = await page.locator('#board').boundingBox();
    await page.click('[data-hill="A4"]');
    await page.locator('.turn-bar.finished').getByText(
        'No turns were left. 1 kingdom each; Red has 23 ringforts, Blue 21.')
        .waitFor();
    assert.deepEqual(await page.locator('#board').boundingBox(), board);
  });

  site.shared(
      'what a side has stays on its card',
      {viewport: PHONE}, async (page) => {
    await drop(page, 'captures.jsonl', CAPTURES);
    await page.waitForSelector('#result');
    // At one time: the parts are drawn anew as evaluations come in.
    const outside = await page.evaluate(
        () => [...document.querySelectorAll('.side :is(button, strong, select)')]
            .filter((part) => {
              const card = part.closest('.side').getBoundingClientRect();
              const box = part.getBoundingClientRect();
              return box.left < card.left || box.right > card.right;
            })
            .map((part) => part.textContent));
    assert.deepEqual(outside, []);
    await page.locator('.seats').screenshot({path: outputFile('captures.png')});
  });

  site.test(
      'hills are large enough for fingers on a phone',
      {viewport: PHONE, hasTouch: true}, async (page) => {
    const {width, height} =
        await page.locator('[data-hill="D4"]').boundingBox();
    assert.ok(width >= 40 && height >= 40, `${width} x ${height}`);
    await page.tap('[data-hill="D4"]');
    await page.waitForSelector('#board:not([data-ply="0"])');
  });

  site.test(
      'all else is large enough for fingers on a phone',
      {viewport: PHONE, hasTouch: true}, async (page) => {
    const check = async (where) => {
      const small = await page.$$eval(
          'button, select, summary, textarea, input', (all) =>
            all.filter((each) => each.offsetParent !== null)
                .map((each) => each.closest('label') ?? each)
                .filter((each) => {
                  const {width, height} = each.getBoundingClientRect();
                  return width > 0 && (width < 43.5 || height < 43.5);
                }).map((each) => each.outerHTML.slice(0, 90)));
      assert.deepEqual(small, [], where);
    };
    await check('page');
    for (const name of ['new-game', 'file', 'help']) {
      await page.click(`#${name}-button`);
      await page.waitForSelector('dialog[open]');
      await check(name);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog[open]', {state: 'detached'});
    }
    await page.click('[data-do="first-lesson"]');
    await page.waitForSelector('.turn-bar.exercise');
    await check('lesson');
    await page.click('#set-up-button');
    await page.waitForSelector('body.editing');
    await check('editor');
    await newGame(page, 'four_treasures', 'people');
    await page.click('[data-hill="D4"]');
    await page.waitForSelector('.moves button');
    await check('a game');
  });
});
