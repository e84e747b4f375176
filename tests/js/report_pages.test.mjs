// The pages that commands write with --html, as people see them: on a screen,
// in the dark, on a phone and on paper. Pictures go to the output folder.

import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {pathToFileURL} from 'node:url';

import {startBrowser, watchPage} from './browser.mjs';
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
    name: 'stats', title: 'Tara: Statistics of random play', plots: 7 + 2 + 2 * 10,
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
  {
    name: 'regret-run', title: 'Tara: Regret on solved endgames', plots: 2 * 5,
    command: [
      'regret', '--player', 'RUN', '--player', 'random', '--player',
      'mcts:sims=8', '--positions', '12', '--nodes', '2k',
    ],
  },
  {
    name: 'regret-players', title: 'Tara: Regret on solved endgames', plots: 5,
    command: [
      'regret', '--variant', 'poisoned_chalice', '--player', 'greedy',
      '--player', 'mcts:sims=8', '--positions', '12', '--nodes', '2k',
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

// Returns of each plot its size, and how many of its pixels are painted; `ink`
// tells pictures apart.
const plotsOf = (page) => page.evaluate(async () => {
  // A plot takes the size of its place some frames after it is drawn.
  for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll('canvas')].map((canvas) => {
    const {width, height} = canvas;
    const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
    let painted = 0, ink = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 0) continue;
      ++painted;
      ink = (ink * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) % 1000003;
    }
    const box = canvas.getBoundingClientRect();
    return {painted, ink, width: box.width, right: box.right};
  });
});

const background = (page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// What is wrong with the page for people who do not see it, or not well.
const hindrances = (page) => page.evaluate(() => {
  const found = [];
  const check = (is, text) => is || found.push(text);
  for (const canvas of document.querySelectorAll('canvas')) {
    const label = canvas.getAttribute('aria-label') ?? '';
    check(canvas.getAttribute('role') === 'img' &&
              /plot of [^ ]/.test(label) && !/,,|undefined|NaN/.test(label),
          `canvas: ${label}`);
  }
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    check(svg.hasAttribute('aria-label'), 'svg without a label');
  }
  for (const heading of document.querySelectorAll('th')) {
    check(heading.scope === 'col' && heading.textContent !== '',
          `th: ${heading.outerHTML}`);
  }
  let level = 0;
  for (const {tagName, textContent} of document.querySelectorAll('h1,h2,h3')) {
    check(Number(tagName[1]) <= level + 1, `${tagName} ${textContent}`);
    level = Number(tagName[1]);
  }
  // As WCAG 2 has it.
  const luminance = (colour) => {
    const part = colour.match(/[\d.e-]+/g).slice(0, 3)
        .map((text) => Number(text) / (colour.startsWith('rgb') ? 255 : 1))
        .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const clear = /rgba\(0, 0, 0, 0\)|transparent/;
  const behind = (element) => {
    const {backgroundColor} = getComputedStyle(element);
    return clear.test(backgroundColor) && element.parentElement ?
        behind(element.parentElement) : backgroundColor;
  };
  for (const text of document.querySelectorAll('p, th, td, small, code')) {
    const pair = [getComputedStyle(text).color, behind(text)].map(luminance);
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    check(contrast >= 4.5, `${contrast} of ${text.outerHTML.slice(0, 200)}`);
  }
  return [...new Set(found)];
});

// The tooltips of the plots, each over its middle: {title, lines}.
const tooltipsOf = (page) => page.evaluate(async () => {
  const canvases = [...document.querySelectorAll('canvas')];
  for (const canvas of canvases) {
    const {left, right, top, bottom} = Chart.getChart(canvas).chartArea;
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent('mousemove', {
      clientX: box.left + (left + right) / 2,
      clientY: box.top + (top + bottom) / 2}));
  }
  // Chart.js heeds the pointer once a frame.
  for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  return canvases.map((canvas) => {
    const {title, body} = Chart.getChart(canvas).tooltip;
    return {title: (title ?? []).join(' '),
            lines: (body ?? []).flatMap(({lines}) => lines)};
  });
});

// How far the page is wider than the window; tables scroll in their own boxes.
const overflow = (page) => page.evaluate(
    () => document.documentElement.scrollWidth - innerWidth);

for (const {name, title, plots, command} of pages) {
  describe(`the page of ${name}`, () => {
    test('loads by itself, and its plots are drawn', async () => {
      const {page, problems} = await open(name, {viewport: screen});
      await page.screenshot({
        path: await outputFile(`${name}-screen.png`), fullPage: true});
      assert.deepEqual(problems, []);
      assert.equal(await page.title(), title);
      const origin = await page.textContent('#origin');
      assert.ok(origin.startsWith(`tara ${command[0]} `), origin);
      assert.match(origin, /, version \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d$/);
      const drawn = await plotsOf(page);
      assert.ok(drawn.length >= plots, `${drawn.length} plots`);
      for (const {painted} of drawn) assert.ok(painted > 500, `${painted}`);
      assert.ok(await overflow(page) <= 0);
      for (const table of await page.locator('table').all()) {
        assert.ok(await table.locator('tbody tr').count() > 0);
      }
      assert.equal(await page.getByText(/NaN|undefined|\{\{/).count(), 0);
      assert.deepEqual(await hindrances(page), []);
      // The command stands there once.
      const text = await page.textContent('main');
      assert.equal(text.split(`tara ${command[0]} `).length, 2);
      assert.equal(text.match(/\d\.\d\.\d/g).length, 1);
      assert.match(await page.textContent('.verdict'), /[a-z].*\.\s*$/s);
    });

    test('tells of its plots what is pointed at, with names and units',
         async () => {
      const {page} = await open(name, {viewport: screen});
      const tooltips = await tooltipsOf(page);
      let told = 0;
      for (const {title, lines} of tooltips) {
        if (lines.length > 0) ++told;  // some have nothing in the middle
        assert.equal(title !== '', lines.length > 0);
        assert.ok(!/,,|undefined|NaN/.test(title), title);
        for (const line of lines) assert.match(line, /[A-Za-z%]/, title);
      }
      assert.ok(told >= tooltips.length / 2, `${told}`);
    });

    test('is as good in the dark, and follows the screen', async () => {
      const {page, problems} =
          await open(name, {viewport: screen, colorScheme: 'dark'});
      assert.deepEqual(await hindrances(page), []);
      const dark = await background(page);
      const darkPlots = await plotsOf(page);
      await page.screenshot({
        path: await outputFile(`${name}-dark.png`), fullPage: true});
      await page.emulateMedia({colorScheme: 'light'});
      // Pages are told of it before the next picture is painted.
      await page.evaluate(() => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
      }));
      assert.notEqual(await background(page), dark);
      const lightPlots = await plotsOf(page);
      assert.equal(lightPlots.length, darkPlots.length);
      lightPlots.forEach(({ink}, i) => assert.notEqual(ink, darkPlots[i].ink));
      assert.deepEqual(problems, []);
    });

    test('fits a phone', async () => {
      const {page, problems} = await open(name, {viewport: phone});
      await page.screenshot({
        path: await outputFile(`${name}-phone.png`), fullPage: true});
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} pixels`);
      for (const {painted, right} of await plotsOf(page)) {
        assert.ok(painted > 500);
        assert.ok(right <= phone.width);
      }
      assert.deepEqual(problems, []);
    });

    test('is printed white, within the paper', async () => {
      const {page, problems} =
          await open(name, {viewport: screen, colorScheme: 'dark'});
      const pdf = await page.pdf(
          {path: await outputFile(`${name}.pdf`), format: 'A4'});
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
      // The same by hand, to look at: paper has no scroll bars.
      await page.emulateMedia({media: 'print'});
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      await page.setViewportSize({width: paperWidth, height: 1000});
      await page.screenshot({
        path: await outputFile(`${name}-paper.png`), fullPage: true});
      const card = await page.evaluate(() => getComputedStyle(
          document.querySelector('.card')).backgroundColor);
      assert.equal(card, 'rgb(255, 255, 255)');
      assert.ok(await overflow(page) <= 0, `${await overflow(page)} pixels`);
      const rights = await page.evaluate(
          () => [...document.querySelectorAll('table, canvas')].map(
              (part) => part.getBoundingClientRect().right));
      for (const right of rights) assert.ok(right <= paperWidth, `${right}`);
      await page.emulateMedia({media: 'screen'});
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      assert.notEqual(await background(page), 'rgb(255, 255, 255)');
      assert.deepEqual(problems, []);
    });
  });
}

test('numbers are rounded as in the text of the report', async () => {
  const {page} = await open('stats', {viewport: screen});
  const rounded = await page.evaluate(() => [
    // By the exact value: 1.65 is a little less, 52.25 is between two.
    fixed(1.65, 1), fixed(52.25, 1), fixed(52.75, 1), fixed(-0.5, 0),
    fixed(-2.74, 2), fixed(1234.5, 0), fixed(0, 1)]);
  // printf('%.*f') of the same.
  assert.deepEqual(rounded, [
    '1.6', '52.2', '52.8', '0', '\u22122.74', '1,234', '0.0']);
});

test('red and blue are the sides alone', async () => {
  const {page} = await open('rate-players', {viewport: screen});
  const colours = await page.evaluate(() => [
    ...lineColours, heatStyle(1), heatStyle(-1)].filter((text) =>
        /red|blue/.test(text) || [colour('red'), colour('blue')].includes(text)));
  assert.deepEqual(colours, []);
  // Four games are painted less strongly than a hundred.
  const share = (style) => Number(/(\d+)%/.exec(style)?.[1] ?? 0);
  const shares = await page.evaluate(() => [
    [4, 4], [100, 100]].map(([points, games]) =>
        heatStyle(likely({points, games}))));
  assert.ok(share(shares[0]) < share(shares[1]), shares.join());
});

test('no column of a book is cut on a screen', async () => {
  const {page} = await open('book', {viewport: {width: 1440, height: 900}});
  const cut = await page.evaluate(() => [...document.querySelectorAll('.wide')]
      .map((box) => box.scrollWidth - box.clientWidth));
  for (const pixels of cut) assert.ok(pixels <= 0, `${pixels}`);
});

test('ratings are against whom one chooses', async () => {
  const {page} = await open('rate-players', {viewport: screen});
  const row = (player) => page.locator('#ratings tbody tr')
      .filter({hasText: player}).locator('td').nth(1).innerText();
  assert.equal(await row('random'), '0');
  const greedy = await row('greedy');
  await page.locator('#against').selectOption({label: 'greedy'});
  assert.equal(await row('greedy'), '0');
  // Turned about: the same difference, the other way round.
  const turned = greedy.startsWith('+') ? greedy.replace('+', '\u2212') :
                                          greedy.replace('\u2212', '+');
  assert.equal(await row('random'), turned);
});

test('the cross table counts each game twice, by variant and in all',
     async () => {
  const {page} = await open('rate-run', {viewport: screen});
  // Of all players the games, in the small print of the column "All".
  const games = async () => (await page.locator(
      '#cross tbody tr td:nth-child(2) small').allInnerTexts())
      .reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
  const total = Number((await page.locator('#about').innerText())
      .match(/by ([\d,]+) games/)[1].replaceAll(',', ''));
  assert.equal(await games(), 2 * total);
  let parts = 0;
  for (const variant of ['four_treasures', 'stone_of_destiny']) {
    await page.locator('#variant').selectOption(variant);
    parts += await games();
  }
  assert.equal(parts, 2 * total);
});

test('a table is sorted by the column that one chooses', async () => {
  const {page, problems} = await open('stats', {viewport: screen});
  const table = page.locator('table').first();
  const column = (place) =>
      table.locator(`tbody td:nth-child(${place})`).allInnerTexts();
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

test('what is not known has a dash', async () => {
  const {page} = await open('regret-players', {viewport: screen});
  const greedy = page.locator('tbody tr').filter({hasText: 'greedy'});
  assert.match(await greedy.locator('td').nth(3).innerText(),
               /^[\d.]+\s*\[[\d.]+, [\d.]+\]$/);  // points lost
  assert.equal(await greedy.locator('td').nth(6).innerText(), '-');  // policy
});

test('the balance of a variant is told in sentences first', async () => {
  const {page, problems} = await open('balance', {viewport: screen});
  const verdict = page.locator('.verdict p');
  assert.equal(await verdict.count(), 1);  // of one variant
  assert.match(await verdict.innerText(), /^Stone of Destiny\n(.*\n)*.*8 simulations/);
  // Estimates are drawn in the tables, within their column.
  const marks = await page.evaluate(() => [...document.querySelectorAll('.mark')]
      .map((mark) => mark.innerHTML));
  assert.ok(marks.length > 10, `${marks.length}`);
  for (const mark of marks) assert.doesNotMatch(mark, /NaN|Infinity|undefined/);
  assert.deepEqual(problems, []);
});

test('a logarithmic scale shows rare lengths', async () => {
  const {page, problems} = await open('stats', {viewport: screen});
  const linear = await plotsOf(page);
  await page.locator('#logarithmic').check();
  const logarithmic = await plotsOf(page);
  assert.notEqual(logarithmic.at(-1).ink, linear.at(-1).ink);
  assert.equal(logarithmic[0].ink, linear[0].ink);
  assert.deepEqual(problems, []);
});

test('a book is stepped through, from whichever side', async () => {
  const {page, problems} = await open('book', {viewport: screen});
  const actions = () =>
      page.locator('#actions tbody tr td:first-child').allInnerTexts();
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
