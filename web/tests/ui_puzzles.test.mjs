// The puzzle of the day: the file that `tara puzzles` has written, and the page.

import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, test} from 'node:test';

import {checkAccess, loadCore, moduleLoader, webRoot} from './harness.mjs';
import {
  DESKTOP, newGame, PHONE, reload, startSite, takePicture, waitForName,
} from './ui_page.mjs';

const core = await loadCore();
const catalogue = core.catalogue();
const {readPuzzles} = await moduleLoader()('/src/ui/puzzle.ts');
const puzzles = readPuzzles(
    await readFile(path.join(webRoot, 'puzzles.txt'), 'utf8')); // by variant

const actionsOf = (view) =>
    view.legal.map((index) => catalogue.actions[index].notation);

// Returns the action that a search by random games chooses.
function searched(position, simulations) {
  const tree = new core.Search(position, simulations, false, 0, 1);
  while (!tree.done()) tree.run(null, 4);
  const chosen = tree.choose(0, 1);
  tree.delete();
  return catalogue.actions[chosen].notation;
}

test('every variant has puzzles for months, with two or three decisions', () => {
  assert.deepEqual(
      [...puzzles.keys()], catalogue.variants.map(({id}) => id));
  for (const all of puzzles.values()) {
    assert.ok(all.length >= 50, `${all.length} puzzles`);
    assert.equal(new Set(all.map(({position}) => position)).size, all.length);
    for (const [i, {position, line}] of all.entries()) {
      let text = core.checkPosition(position).value;
      const {side} = core.view(text);
      let decisions = 0;
      for (const notation of line) {
        const view = core.view(text);
        assert.ok(actionsOf(view).includes(notation), `${position} ${line}`);
        decisions += Number(view.side === side && view.legal.length > 1);
        text = core.play(text, notation).value.text;
      }
      assert.ok(decisions === 2 || decisions === 3, `${position} ${line}`);
      const {finished, score} = core.view(text);
      assert.ok(!finished || score.winner === side, `${position} ${line}`);
      if (i >= 10) continue;
      // 4,000 simulations may choose another action; 200,000 do not.
      if (searched(position, 4000) === line[0]) continue;
      assert.equal(searched(position, 200_000), line[0], position);
    }
  }
});

describe('the puzzle of the day', () => {
  const DAY_MS = 86_400_000;
  // The page is where it is noon by now: no day ends during a test.
  const hours = 12 - new Date().getUTCHours(); // ahead of UTC
  const timezoneId = `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
  const site = startSite({timezoneId});

  const bar = (page) => page.locator('.turn-bar.exercise:visible');
  const heard = (page, text) => bar(page).getByText(text).waitFor();
  // Today's, or that of some days before.
  const puzzleOf = (variant, before = 0) => {
    const day = Math.floor(Date.now() / DAY_MS + hours / 24) - before;
    const all = puzzles.get(variant);
    return all[day % all.length];
  };
  const click = async (page, notation) => {
    for (const hill of notation.match(/[A-G]\d/g)) {
      await page.click(`[data-hill="${hill}"]`, {force: true});
    }
    const choice = page.locator(`#choice [data-action="${notation}"]`);
    if (await page.isVisible('#choice')) await choice.click();
  };
  // Plays the person's decisions of a solution.
  const solve = async (page, {position, line}) => {
    let text = position;
    const {side} = core.view(text);
    for (const [ply, notation] of line.entries()) {
      const view = core.view(text);
      if (view.side === side && view.legal.length > 1) {
        await page.waitForSelector(
            `#board[data-ply="${ply}"][data-waits="true"]`);
        await click(page, notation);
      }
      text = core.play(text, notation).value.text;
    }
    await heard(page, 'Solved');
  };
  const open = async (page) => {
    await page.click('[data-do="first-puzzle"]');
    await heard(page, 'Find the only action that keeps the win.');
  };

  for (const [viewport, colorScheme] of [[DESKTOP, 'light'], [PHONE, 'dark']]) {
    site.test(
        `shows why an action is wrong, and keeps what is solved, ${viewport.width} wide`,
        {viewport, colorScheme}, async (page) => {
      const puzzle = puzzleOf('sacred_hill_l1');
      await open(page);
      await checkAccess(page, 'a puzzle');
      const wrong = actionsOf(core.view(puzzle.position))
          .find((notation) => notation !== puzzle.line[0]);
      await click(page, wrong);
      await heard(page, new RegExp(
          `^After ${wrong}, \\w+ (wins|draws) with .*\\.$|^The game`));
      await takePicture(page, `puzzle-wrong-${viewport.width}`);
      // It is a position to look at, not to play on.
      assert.equal(await page.getAttribute('#board', 'data-waits'), 'false');
      await page.click('[data-do="puzzle-again"]');
      await solve(page, puzzle);
      await takePicture(page, `puzzle-${viewport.width}`);
      await checkAccess(page, 'a solved puzzle');
      const card = page.locator('[aria-label="Puzzle"]');
      const results = () => card.locator('.faint').textContent();
      assert.match(await results(), /^You have solved 1 .* 0 of them without/);
      await page.click('[data-do="puzzle-next"]');
      await heard(page, 'Find the only');
      await solve(page, puzzleOf('sacred_hill_l1', 1));
      assert.match(await results(), /^You have solved 2 .* 1 of them without/);
      const small = await page.$$eval(
          '.exercise :is(button, select)', (all) => all
              .map((each) => each.getBoundingClientRect())
              .filter(({width, height}) => width > 0 && height < 43.5).length);
      if (viewport === PHONE) assert.equal(small, 0);
      // The game is as it was, and the results are there at the next visit.
      await page.click('[data-do="puzzle-leave"]');
      await page.waitForSelector('#board[data-actions="0"]');
      await reload(page);
      await open(page);
      assert.match(await results(), /^You have solved 2 /);
      assert.match(await card.locator('option').first().textContent(), / ✓$/);
    });
  }

  site.test('is solved by its line in every variant', async (page) => {
    await open(page);
    const choice = page.locator('[aria-label="Variant of the puzzle"]');
    for (const variant of puzzles.keys()) {
      // To choose what is chosen would begin again, unseen.
      if (await choice.inputValue() !== variant) {
        await choice.selectOption(variant);
      }
      await waitForName(
          page, catalogue.variants.find(({id}) => id === variant).name);
      await heard(page, 'Find the only');
      await solve(page, puzzleOf(variant));
    }
  });

  site.test('is solved by keyboard, or shown', async (page) => {
    await newGame(page, 'four_treasures', 'people');
    await page.click('#help-button');
    await page.click('#help button:has-text("Puzzle of the day")');
    await heard(page, 'Find the only');
    const {line: [first]} = puzzleOf('four_treasures');
    await page.focus(`[data-hill="${first}"]`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#board:not([data-ply="0"])');
    // The button comes and goes, so the page looks for it and clicks in one step.
    await page.waitForFunction(() => {
      document.querySelector('[data-do="puzzle-show"]')?.click();
      return [...document.querySelectorAll('.turn-bar')].some(
          ({textContent}) => textContent.includes('Solved'));
    });
    assert.match(
        await page.textContent('[aria-label="Puzzle"] .faint'),
        /^You have solved 1 .* 0 of them/);
  });
});
