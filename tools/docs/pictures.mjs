// Makes the pictures of the documents from the built program and its page:
//
//   node tools/docs/pictures.mjs RUN
//
// RUN is the folder of a finished run; the documents show that of
// configs/quickstart.textproto. `bin/tara web` builds the page first, and
// `npm ci --ignore-scripts` in tests/js installs what drives the browser.

import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {startBrowser} from '../../tests/js/browser.mjs';
import {root, servePage, tara} from '../../tests/js/tara.mjs';

// A game between two levels of strength: the page shows its first actions, up
// to a mistake, and the report reviews all of it.
const GAME =
    'sacred_hill_l2 D7 G4 B6 F2 A4 F6 C3 D1 B1 D5 E5 B4 F3 A2 E1 C7 G6 A6 ' +
    'D6 E2 E6 D2 C6 B7 E7 D3 C1 D4 C2 C4 B2 E3 B3 E4 A3 F4 A2 F5 F7 C5 G5 ' +
    'B5 G3 A5 G2 F1 E1';
const SHOWN_ACTIONS = 18;

const [, , run] = process.argv;
if (!run) throw new Error('usage: node tools/docs/pictures.mjs RUN');

const work = await mkdtemp(path.join(tmpdir(), 'tara-pictures-'));
const todo = [() => rm(work, {recursive: true})];
const context = {after: (clean) => todo.push(clean)};

// The output of a command of the program.
async function output(...args) {
  const {status, stdout, stderr} = await tara(args, {cwd: work});
  if (status !== 0) throw new Error(`tara ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function save(name, content) {
  const file = path.join(root, 'docs', name);
  await writeFile(file, content);
  console.log(`${path.relative(root, file)}: ${content.length} bytes`);
}

// Saves the top of a page, `height` pixels of it, as WebP.
async function saveTop(page, name, height) {
  const {width} = page.viewportSize();
  const png = await page.screenshot({clip: {x: 0, y: 0, width, height}});
  const encoder = await page.context().browser().newPage();
  const webp = await encoder.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    Object.assign(canvas, {width: image.width, height: image.height});
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.7).split(',')[1];
  }, png.toString('base64'));
  await encoder.close();
  await save(name, Buffer.from(webp, 'base64'));
}

try {
  const folder = path.resolve(run);
  const address = await servePage(
      context, ['--page', path.join(root, 'web/dist'), '--run', folder]);
  const browser = await startBrowser(context);
  const open = async (url, width, height) => {
    const page = await browser.newPage({
      viewport: {width, height},
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(600_000);
    await page.goto(url);
    return page;
  };
  const openReport = async (file) =>
    open(pathToFileURL(path.join(work, file)).href, 1000, 1200);

  await save('board.svg', await output(
      'show', '--variant', 'sacred_hill_l1', '--actions', 'D4 E5 F5 C4',
      '--format', 'svg'));

  const shown = GAME.split(' ').slice(0, SHOWN_ACTIONS + 1);
  const game = await open(`${address}#${shown.join('+')}`, 1240, 860);
  await game.waitForSelector(`#board[data-actions="${SHOWN_ACTIONS}"]`);
  await game.keyboard.press('a');
  await game.waitForFunction(
      () => / 8000 /.test(
          document.querySelector('.analysis .legend').textContent));
  await game.waitForSelector('.toast:not(.shown)', {state: 'attached'});
  await saveTop(game, 'web.webp', 860);

  const watched = await open(`${address}run.html`, 1100, 1000);
  await watched.waitForSelector('body.ready');
  await saveTop(watched, 'how-to/run.webp', 1000);

  await writeFile(path.join(work, 'game.txt'), GAME);
  await output('review', 'game.txt', '--html', 'review.html');
  await saveTop(await openReport('review.html'), 'how-to/review.webp', 1045);

  await output(
      'balance', '--variant', 'poisoned_chalice', '--player', 'best', '--sims',
      '10,25,50', '--games', '100', '--html', 'balance.html');
  await saveTop(await openReport('balance.html'), 'how-to/balance.webp', 850);
} finally {
  while (todo.length > 0) await todo.pop()();
}
