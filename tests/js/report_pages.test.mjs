// The pages that commands write with --html, as people see them: on a screen,
// in the dark, on a phone and on paper. Pictures go to the output folder.

import assert from 'node:assert/strict';
import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';

import {checkAccess, startBrowser, watchPage} from './browser.mjs';
import {outputFile, tara, temporaryFolder} from './tara.mjs';

// A run of seconds, for curves over its generations.
const tinyConfig = (runFolder) => `
  run_dir: "${runFolder}"
  variant: "four_treasures"
  variant: "stone_of_destiny"
  generations: 3
  network { channels: 4 blocks: 1 }
  self_play {
    games_per_generation: 6
    threads: 1
    search { simulations: 2 }
  }
  learner { batch_size: 8 steps_per_generation: 2 threads: 1 }
  evaluation { games: 2 final_games: 2 simulations: 2 }
`;

// The pages: how each is made, what it is called, how many plots it has at
// least. RUN is the folder of the tiny run, BOOK an opening book.
const pages = [
  {
    name: 'stats', title: 'Tara: Statistics of random play', plots: 7 + 2 * 10,
    command: ['stats', '--variant', 'all', '--games', '500'],
  },
  {
    name: 'balance', title: 'Tara: Balance of variants', plots: 0,
    command: [
      'balance', '--variant', 'stone_of_destiny', '--player', 'mcts', '--sims',
      '4,8', '--games', '30', '--first-games', '2',
      '--what-if', 'link_all_at_end=false', '--threads', '1',
    ],
  },
  {
    name: 'balance-fair', title: 'Tara: Balance of variants', plots: 0,
    command: [
      'balance', '--variant', 'poisoned_chalice', '--player', 'mcts:sims=8',
      '--games', '30', '--first-games', '2', '--fair', '--threads', '1',
    ],
  },
  {
    name: 'review', title: 'Tara: Review of a game', plots: 2,
    command: [
      'review', 'tests/golden/high_kings_l1.jsonl', '--player', 'mcts:sims=8',
      '--nodes', '2k', '--threads', '1',
    ],
  },
  {
    name: 'book', title: 'Tara: Opening book', plots: 0,
    command: ['explore', 'show', 'BOOK', '--variant', 'poisoned_chalice'],
  },
  {
    name: 'arena', title: 'Tara: Matches of players', plots: 3,
    command: [
      'arena', '--variant', 'all', 'greedy', 'random', '--games', '8',
      '--by-match', '--threads', '1',
    ],
  },
  {
    name: 'arena-test', title: 'Tara: Matches of players', plots: 2,
    command: [
      'arena', '--variant', 'four_treasures', 'mcts:sims=16', 'random',
      '--sprt', 'elo0=0,elo1=100', '--time-control', '2s', '--threads', '1',
    ],
  },
  {
    name: 'crossplay', title: 'Tara: Matches of players', plots: 2 + 3,
    command: [
      'crossplay', '--variant', 'all', 'greedy', 'mcts:sims=4', 'random',
      '--games', '16', '--threads', '1',
    ],
  },
  {
    name: 'rate-players', title: 'Tara: Ratings of players', plots: 1 + 10,
    command: [
      'rate', 'random', 'greedy', 'alphabeta:depth=1', '--variant', 'all',
      '--games', '12', '--threads', '1',
    ],
  },
  {
    name: 'rate-run', title: 'Tara: Ratings of players', plots: 1 + 2,
    command: [
      'rate', 'RUN', 'random', '--sims', '0', '--games', '16', '--threads',
      '1', '--store', 'RUN/pages.db',
    ],
  },
];

const screen = {width: 1280, height: 900};
const phone = {width: 390, height: 844};
const paperWidth = 703;  // of A4 between margins of 12 mm, at 96 pixels an inch

let browser;
const files = {};

before(async (context) => {
  browser = await startBrowser(context);
  const folder = await temporaryFolder(context);
  const run = path.join(folder, 'run');
  const config = path.join(folder, 'tiny.textproto');
  await writeFile(config, tinyConfig(run));
  const trained = await tara(['train', config]);
  assert.equal(trained.status, 0, trained.stderr);
  // Of the games that the next command plays, and of searches.
  const games = path.join(folder, 'games.db');
  const book = path.join(folder, 'book.db');
  for (const words of [
    ['selfplay', '--variant', 'poisoned_chalice', '--games', '40', '--sims',
     '8', '--player', 'playouts', '--threads', '1', '-o', games],
    ['explore', 'build', book, '--variant', 'poisoned_chalice', '--player',
     'mcts:sims=32', '--positions', '80', '--games', games, '--threads', '1'],
  ]) {
    const made = await tara(words);
    assert.equal(made.status, 0, made.stderr);
  }
  for (const {name, command} of pages) {
    files[name] = path.join(folder, `${name}.html`);
    const words = command.map(
        (word) => word.replace('RUN', run).replace('BOOK', book));
    const made = await tara([...words, '--html', files[name]]);
    assert.equal(made.status, 0, `${name}: ${made.stderr}`);
  }
});

// Opens a page as `look` says, and returns it with what goes wrong on it.
async function open(name, look) {
  const page = await browser.newPage(look);
  after(() => page.close());
  const problems = watchPage(page);
  await page.goto(pathToFileURL(files[name]).href);
  return {page, problems};
}

// Returns of each plot its size, and whether everything drawn is within it.
const plotsOf = (page) => page.evaluate(
    () => [...document.querySelectorAll('figure.plot')].map((figure) => {
      const {width, height, right, left} = figure.getBoundingClientRect();
      const marks = [...figure.querySelectorAll('circle, rect, path, .bar')];
      const inside = marks.every((mark) => {
        const box = mark.getBoundingClientRect();
        return box.left >= left - 1 && box.right <= right + 1;
      });
      return {width, height, right, marks: marks.length, inside};
    }));

const background = (page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// What axe does not ask: that plots say what they are of, and headings of tables
// what they head.
const hindrances = (page) => page.evaluate(() => {
  const found = [];
  const check = (is, text) => is || found.push(text);
  for (const plot of document.querySelectorAll('figure.plot [role=img]')) {
    const label = plot.getAttribute('aria-label') ?? '';
    check(/plot of [^ ]/.test(label) && !/,,|undefined|nan/i.test(label),
          `plot: ${label}`);
  }
  for (const heading of document.querySelectorAll('th')) {
    check(/^(col|row)$/.test(heading.scope) && heading.textContent !== '',
          `th: ${heading.outerHTML}`);
  }
  return [...new Set(found)];
});

// What is told where one points at the marks of the plots.
const tipsOf = (page) => page.evaluate(
    () => [...document.querySelectorAll('.plot [data-tip]')].map((mark) => {
      const box = mark.getBoundingClientRect();
      mark.dispatchEvent(new PointerEvent('pointermove', {
        bubbles: true, clientX: box.left + 1, clientY: box.top + 1}));
      return document.querySelector('#tip').textContent;
    }));

// How far the page is wider than the window; tables scroll in their own boxes.
const overflow = (page) => page.evaluate(
    () => document.documentElement.scrollWidth - innerWidth);

for (const {name, title, plots, command} of pages) {
  test(`the page of ${name}`, async (context) => {
    const {page, problems} = await open(name, {viewport: screen});
    const look = async (where) => page.screenshot(
        {path: await outputFile(`${name}-${where}.png`), fullPage: true});

    await context.test('loads by itself, and its plots are drawn', async () => {
      await look('screen');
      assert.equal(await page.title(), title);
      const origin = await page.textContent('#origin');
      assert.ok(origin.startsWith(`tara ${command[0]} `), origin);
      assert.match(origin, /, version \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d$/);
      const drawn = await plotsOf(page);
      assert.ok(drawn.length >= plots, `${drawn.length} plots`);
      for (const {marks, inside, height} of drawn) {
        assert.ok(marks > 0 && inside && height > 60, `${marks} ${inside}`);
      }
      assert.ok(await overflow(page) <= 0);
      for (const table of await page.locator('table').all()) {
        assert.ok(await table.locator('tbody tr').count() > 0);
      }
      assert.equal(await page.getByText(/NaN|undefined|\{\{/).count(), 0);
      assert.deepEqual(await hindrances(page), []);
      await checkAccess(page, name);
      // The command stands there once.
      const text = await page.textContent('main');
      assert.equal(text.split(`tara ${command[0]} `).length, 2);
      assert.equal(text.match(/\d\.\d\.\d/g).length, 1);
      assert.match(await page.textContent('.verdict'), /[a-z].*\.\s*$/s);
    });

    await context.test('tells of its plots what is pointed at, with names and units',
                       async () => {
      const tips = await tipsOf(page);
      assert.ok(tips.length >= plots, `${tips.length}`);
      for (const tip of tips) {
        assert.match(tip, /^[^\n]*[A-Za-z].*\n.*\d/s);
        assert.doesNotMatch(tip, /,,|undefined|nan/i);
      }
    });

    await context.test('fits a phone', async () => {
      await page.setViewportSize(phone);
      await page.reload();
      await look('phone');
      const small = await page.$$eval('button', (all) => all.filter((each) => {
        const {width, height} = each.getBoundingClientRect();
        return width > 0 && (width < 43.5 || height < 43.5);
      }).map((each) => each.textContent));
      assert.deepEqual(small, [], 'for fingers');
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} pixels`);
      for (const {right, inside} of await plotsOf(page)) {
        assert.ok(inside && right <= phone.width);
      }
    });

    await context.test('is as good in the dark, and follows the screen', async () => {
      await page.setViewportSize(screen);
      await page.reload();
      const light = await background(page);
      await page.emulateMedia({colorScheme: 'dark'});
      await checkAccess(page, `${name}, dark`);
      await look('dark');
      assert.notEqual(await background(page), light);
    });

    await context.test('is printed white, within the paper', async () => {
      const pdf = await page.pdf(
          {path: await outputFile(`${name}.pdf`), format: 'A4'});
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
      // The same by hand, to look at: paper has no scroll bars.
      await page.emulateMedia({media: 'print'});
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      await page.setViewportSize({width: paperWidth, height: 1000});
      await look('paper');
      const card = await page.evaluate(() => getComputedStyle(
          document.querySelector('.card')).backgroundColor);
      assert.equal(card, 'rgb(255, 255, 255)');
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} pixels`);
      const rights = await page.evaluate(
          () => [...document.querySelectorAll('table, figure')].map(
              (part) => part.getBoundingClientRect().right));
      for (const right of rights) assert.ok(right <= paperWidth, `${right}`);
      await page.emulateMedia({media: 'screen'});
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      assert.notEqual(await background(page), 'rgb(255, 255, 255)');
    });
    assert.deepEqual(problems, []);
  });
}

test('no column of a book is cut on a screen, and numbers are typeset', async () => {
  const {page} = await open('book', {viewport: {width: 1440, height: 900}});
  const turn = await page.textContent('#turn');
  assert.match(turn, / [+\u2212]?\d+\.\d points ahead/);
  assert.doesNotMatch(turn, /-\d|[+\u2212]0\.0 points/);
  const cut = await page.evaluate(() => [...document.querySelectorAll('.wide')]
      .map((box) => box.scrollWidth - box.clientWidth));
  for (const pixels of cut) assert.ok(pixels <= 0, `${pixels}`);
});

test('all players are rated against each other', async () => {
  const {page} = await open('rate-players', {viewport: screen});
  const cell = async (section, row, column) => {
    const table = page.locator(`#${section} table`);
    const place = (await table.locator('thead th').allInnerTexts())
        .findIndex((text) => text.toLowerCase() === column);
    return (await table.locator('tbody tr').filter(
        {has: page.locator('th', {hasText: row})}).locator('th, td')
        .nth(place).innerText()).split(/\s/)[0];
  };
  const number = async (...where) =>
      Number((await cell(...where)).replace('\u2212', '-'));
  assert.equal(await number('differences', 'greedy', 'random'),
               -(await number('differences', 'random', 'greedy')));
  const score = 'scores-against-each-other';
  assert.ok(Math.abs(await number(score, 'greedy', 'random') +
                     await number(score, 'random', 'greedy') - 100) < 0.11);
  assert.equal(await cell(score, 'random', 'random'), '-');
});

test('a table is downloaded as CSV, as it is sorted', async () => {
  const {page} = await open('stats', {viewport: screen});
  const section = page.locator('#results');
  await section.locator('.sort').nth(1).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'), section.locator('.csv').first().click()]);
  assert.equal(download.suggestedFilename(), 'results.csv');
  const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
  assert.match(lines[0], /^"Results","First side scores %",/);
  assert.match(lines[0], /"First side scores % low","First side scores % high"/);
  assert.equal(lines.length, 12);
  const scores = lines.slice(1, 11).map((line) =>
      Number(/^"[^"]*",([\d.]+),/.exec(line)[1]));
  assert.deepEqual(scores, [...scores].sort((a, b) => b - a));
});

test('no line of a plot goes through a label, and the command stands apart',
     async () => {
  const {page} = await open('rate-players', {viewport: screen});
  const [card, ...labels] = await page.$$eval(
      '.plot, .row span',
      (all) => all.map((each) => getComputedStyle(each).backgroundColor));
  assert.ok(labels.includes(card));
  const {y, height} = await page.locator('.plot').last().boundingBox();
  assert.ok((await page.locator('#origin').boundingBox()).y >= y + height + 12);
});

test('the contents lead to each section', async () => {
  const {page} = await open('stats', {viewport: screen});
  const targets = await page.locator('nav a').evaluateAll(
      (links) => links.map(({hash}) => document.querySelector(hash)?.tagName));
  assert.ok(targets.length >= 5);
  for (const target of targets) assert.equal(target, 'SECTION');
});

test('a table is sorted by the column that one chooses', async () => {
  const {page, problems} = await open('stats', {viewport: screen});
  const table = page.locator('table').first();
  const column = (place) =>
      table.locator(`tbody tr > :nth-child(${place})`).allInnerTexts();
  const longest = table.getByRole('button', {name: 'Longest'});
  await longest.click();
  const numbers = (await column(5)).map((text) => Number(text));
  assert.equal(numbers.length, 10);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  await longest.press('Enter');  // it has the focus still
  assert.deepEqual((await column(5)).map((text) => Number(text)),
                   [...numbers].reverse());
  assert.equal(await table.locator('[aria-sort=ascending]').innerText(),
               'Longest');
  await table.getByRole('button', {name: 'Games'}).click();
  const names = await column(1);
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, 'en')));
  assert.deepEqual(problems, []);
});

test('the balance of a variant is told in sentences first', async () => {
  const {page, problems} = await open('balance', {viewport: screen});
  const verdict = page.locator('.verdict p');
  assert.equal(await verdict.count(), 1);  // of one variant
  assert.match(await verdict.innerText(), /^Stone of Destiny\n(.*\n)*.*8 simulations/);
  // Estimates are drawn in the tables, within their column.
  const marks = await page.evaluate(() => [...document.querySelectorAll('td i')]
      .map((mark) => mark.getAttribute('style')));
  assert.ok(marks.length > 10, `${marks.length}`);
  for (const mark of marks) assert.doesNotMatch(mark, /NaN|Infinity|undefined/);
  assert.deepEqual(problems, []);
});

test('a book is stepped through, from whichever side', async () => {
  const {page, problems} = await open('book', {viewport: screen});
  const actions = () =>
      page.locator('#actions tbody tr th').allInnerTexts();
  const turn = () => page.locator('#turn').innerText();
  assert.match(await turn(), /^Red to move: [\d.]+ % of winning/);
  const first = await actions();
  // A hill and its like are one row, with an end to click each.
  const [one, like] = first.find((row) => row.includes(' ')).split(/\s+/);
  const fort = (hill) => page.evaluate((name) => {
    const x = 70 * (name.charCodeAt(0) - 64) - 15;
    const y = 70 * (8 - Number(name[1])) - 38;
    return document.querySelector(`#board circle[cx="${x}"][cy="${y}"]`)
        .getAttribute('fill');
  }, hill);
  await page.getByRole('button', {name: one, exact: true}).last().click();
  // The address changes before the board does.
  const drawn = (last) => page.waitForFunction(
      (text) => document.querySelector('#line [aria-current]').textContent ===
          text, last);
  await drawn(one);
  assert.match(await turn(), /^Blue to move/);
  assert.equal(await fort(one), 'var(--red)');
  assert.equal(await fort(like), null);
  const values = () =>
      page.locator('#actions tbody tr td:nth-child(2)').allInnerTexts();
  const after = await values();
  await page.goBack();
  await page.waitForFunction(
      () => /^Red/.test(document.querySelector('#turn').textContent));
  assert.deepEqual(await actions(), first);
  // On the board, the other one: the same values, seen from there.
  await page.getByRole('button', {name: `Play ${like}`}).click();
  await drawn(like);
  assert.equal(await fort(like), 'var(--red)');
  assert.equal(await fort(one), null);
  assert.deepEqual(await values(), after);
  // A line further, then back to the start by the keyboard, and by its address.
  await page.locator('#actions button').first().press('Enter');
  await page.waitForFunction(
      () => /^Red/.test(document.querySelector('#turn').textContent));
  const line = new URL(page.url()).hash;
  const deep = await actions();
  await page.getByRole('button', {name: 'Start'}).press('Enter');
  await drawn('Start');
  assert.deepEqual(await actions(), first);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, line);
  await page.waitForFunction((count) => document.querySelectorAll(
      '#line button').length === count, line.split('.').length + 1);
  assert.deepEqual(await actions(), deep);
  // What is no line leads as far as it goes.
  await page.evaluate(() => {
    location.hash = '#D9.nothing';
  });
  await page.waitForFunction(
      () => document.querySelectorAll('#line button').length === 1);
  assert.deepEqual(await actions(), first);
  assert.deepEqual(problems, []);
});
