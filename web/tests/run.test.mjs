// The page that watches a run, of a real one: its curves, its games, and what
// comes while it is watched.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {test} from 'node:test';

import {startBrowser, watchPage} from '../../tests/js/browser.mjs';
import {root, servePage, tara, temporaryFolder} from '../../tests/js/tara.mjs';
import {checkAccess, webRoot} from './harness.mjs';
import {DESKTOP, PHONE, takePicture} from './ui_page.mjs';

// Trains a tiny run up to so many generations.
async function train(run, generations, ...more) {
  const result = await tara([
    'train', path.join(root, 'configs/tiny.textproto'),
    '--set', `run_dir=${run}`, '--set', `generations=${generations}`,
    '--set', 'learner.held_out_share=0.5',
    '--set', 'self_play.games_per_generation=24',
    '--set', 'evaluation.opponent=random', ...more,
  ]);
  assert.equal(result.status, 0, result.stderr);
}

// Opens the page that watches runs.
async function watch(context, ...runs) {
  const address = await servePage(context, [
    '--page', path.join(webRoot, '.build', 'test'),
    ...runs.flatMap((run) => ['--run', run])]);
  const browser = await startBrowser(context);
  const page =
      await browser.newPage({viewport: DESKTOP, reducedMotion: 'reduce'});
  const problems = watchPage(page, {allowed: address});
  await page.goto(`${address}run.html`);
  await page.waitForSelector('body.ready');
  return {page, problems, address};
}

test('a run that has only begun has nothing to show, yet', async (context) => {
  const run = await temporaryFolder(context);
  await writeFile(path.join(run, 'config.textproto'), 'generations: 7\n');
  const {page, problems} = await watch(context, run);
  assert.equal(
      await page.textContent('#run-state'), 
      'Stopped: generation 0 of 7, 0 games');
  assert.equal(await page.locator('.newest button').count(), 0);
  assert.deepEqual(problems, []);
});

test('a run is watched while it learns', async (context) => {
  const run = path.join(await temporaryFolder(context), 'my run');
  await train(run, 2);
  const {page, problems, address} = await watch(context, run);
  assert.equal(await page.textContent('h1'), 'my run');
  const state = page.locator('#run-state');
  assert.match(await state.textContent(),
               /^Finished: generation 2 of 2, 48 games, .* games\/s .* ago$/);
  const titles = () => page.locator('#curves h2').allTextContents();
  for (const title of [
    'Checkpoint 2: score in %, with 95 % intervals',
    'Score against random, %', 'Strength over random, Elo',
    'Policy loss, nats', 'Value loss, nats',
    'Self-play, games per second', 'Positions of self-play, %',
    'Idle during self-play, %',
    'Time of the learning thread, %',
  ]) assert.ok((await titles()).includes(title), title);
  const idle = page.locator('figure', {hasText: 'Idle during self-play, %'});
  assert.match(await idle.textContent(), /cores, of \d+\d+\.\d/);
  assert.doesNotMatch(await idle.textContent(), /device/); // it has none
  // The first checkpoint plays at the end alone: a row, and no curve.
  assert.ok(!(await titles()).includes('Score against ckpt-000001, %'));
  const row = page.locator('.wide tbody tr');
  assert.match(await row.textContent(),
               /^sacred_hill_l1\d+ \[\d+, \d+\]\d+ \[\d+, \d+\]$/);

  await context.test('its curves, over what is chosen, and as files', async () => {
    const places = () => page.locator('#curves .u-legend tr:first-child')
        .allTextContents();
    assert.match((await places())[0], /^generation/);
    for (const [axis, last] of [
      ['games', /^games48$/], ['samples', /^samples\d+$/],
      ['hours', /^hours0\.\d+$/],
    ]) {
      await page.selectOption('[aria-label="Draw over"]', axis);
      const shown = await places();
      assert.ok(shown.some((text) => last.test(text)), `${axis}: ${shown}`);
    }
    await page.selectOption('[aria-label="Smoothing"]', '3');
    const [file] = await Promise.all(
        [page.waitForEvent('download'), page.click('[data-do="csv"]')]);
    assert.match(
        await readFile(await file.path(), 'utf8'),
        /^run,chart,line,generation,value,low,high\n"my run","Score ag/);
    await page.selectOption('[aria-label="Draw over"]', 'generation');
  });

  await context.test('its games, step by step', async () => {
    assert.equal(await page.locator('.newest button').count(), 40);
    const words = page.locator('.viewer [role="status"]');
    // It opens at the last position that was searched.
    assert.match(await words.textContent(),
                 /^Action \d+ of \d+: .* The search of \w+ gives Red \d+ %/);
    await page.click('[aria-label="First position"]');
    assert.match(await words.textContent(), /^The start\. The search of Red/);
    await page.click('[aria-label="On"]');
    assert.match(await words.textContent(), /^Action 1 of \d+: Red played /);
    await page.locator('.viewer').press('ArrowRight');
    assert.match(await words.textContent(), /^Action 2 of \d+: Blue played /);
    assert.match(
        await page.textContent('.viewer .u-legend'),
        /^after action2Red’s chances, %\d+$/);
    await page.click('[aria-label="Last position"]');
    assert.match(await words.textContent(), /Red \d+, Blue \d+\.$/);
    await page.waitForFunction(() => {
      const picture = document.querySelector('.viewer img');
      return picture.complete && picture.naturalWidth > 0;
    });

    await page.click('.newest li:nth-child(3) button');
    await page.waitForFunction(() => /^Game 45 by ckpt-000001: Red/.test(
        document.querySelector('.viewer h2').textContent));
    const link = await page.getAttribute('.viewer a', 'href');
    const shown = (await tara(
        ['games', 'show', run, '45', '--format=json'])).stdout;
    const played = JSON.parse(shown).steps.map(({action}) => action);
    assert.equal(link, `./#sacred_hill_l1+${played.join('+')}`);
    const [board] = await Promise.all([
      page.waitForEvent('popup'), page.click('.viewer a')]);
    await board.waitForSelector('body.ready');
    await board.waitForFunction((length) =>
      document.querySelector('#board').dataset.actions === length,
    String(played.length));
    await board.close();
  });

  await context.test('and not one that was asked for before', async () => {
    let letIn;
    const gate = new Promise((resolve) => letIn = resolve);
    await page.route('**/game.json?index=46', async (route) => {
      await gate;
      await route.continue();
    });
    await page.route('**/game.json?index=44', (route) => route.fulfill(
        {status: 404, body: 'no game 44 is left'}));
    const error = page.locator('#games .error');
    const late = page.waitForResponse('**/game.json?index=46');
    await page.click('[data-game="46"]');
    const logged = page.waitForEvent('console');
    await page.click('[data-game="44"]');
    await error.getByText('No game 44: no game 44 is left').waitFor();
    await page.click('[data-game="45"]');
    await error.filter({hasText: /^$/}).waitFor({state: 'attached'});
    letIn();
    await (await late).finished();
    // What follows an answer is done before the page answers here.
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.match(await page.textContent('.viewer h2'), /^Game 45 /);
    await logged;
    assert.match(problems.pop(), /status of 404/);
    await page.unrouteAll();
  });

  await context.test('what comes later', async () => {
    await page.click('#rest summary');
    await page.focus('[data-game="40"]');
    await train(run, 3);
    await page.waitForFunction(() => /generation 3 of 3, 72 games/.test(
        document.querySelector('#run-state').textContent));
    await page.waitForSelector('[data-game="71"]');
    assert.ok(await page.isVisible('#rest pre'));
    assert.equal(
        await page.evaluate(() => document.activeElement.dataset.game), '40');
    // The game that is looked at stays.
    assert.match(await page.textContent('.viewer h2'), /^Game 45 /);
  });

  await context.test('for all', async () => {
    for (const [name, size, colorScheme] of [
      ['desktop', DESKTOP, 'light'], ['phone', PHONE, 'dark'],
    ]) {
      await page.setViewportSize(size);
      await page.emulateMedia({colorScheme});
      // Not wider than the screen, once the charts are drawn for it.
      await page.waitForFunction(() =>
        document.documentElement.scrollWidth <= innerWidth);
      await takePicture(page, `run_${name}`);
      await checkAccess(page, name);
    }
  });

  await context.test('wrong requests', async () => {
    const answer = async (name) => {
      const response = await fetch(`${address}run/${name}`);
      return [response.status, await response.text()];
    };
    for (const [name, status, words] of [
      ['game.json?index=9999', 404, /no game 9999|9999/],
      ['game.json?index=x', 400, /index is 'x'; expected a number/],
      ['position.svg?index=1&ply=999', 400, /ply is 999; expected 0 to \d+/],
      ['../state.textproto', 404, /./],
      ['nothing', 404, /no file run\/nothing/],
    ]) {
      const [found, text] = await answer(name);
      assert.equal(found, status, name);
      assert.match(text, words, name);
    }
  });
  assert.deepEqual(problems, []);
});

test('several runs are compared', async (context) => {
  const folder = await temporaryFolder(context);
  const [first, second] = ['slow', 'fast'].map((name) => path.join(folder, name));
  await Promise.all([
    train(first, 2),
    train(second, 3, '--set', 'learner.learning_rate=0.02'),
  ]);
  const {page, problems, address} = await watch(context, first, second);
  assert.equal(await page.textContent('h1'), 'slow, fast');
  const states = await page.locator('#run-state p').allTextContents();
  assert.match(states[0], /^slow Finished: generation 2 of 2/);
  assert.match(states[1], /^fast Finished: generation 3 of 3/);

  const loss = page.locator('figure', {hasText: 'Policy loss, nats'});
  const rows = await loss.locator('.u-legend tr:not(.bound)').allTextContents();
  assert.match(rows[1], /^slow: learned from\d/);
  assert.ok(rows.some((row) => /^fast: learned from\d/.test(row)), rows);
  // In the legend, the last value of the shorter run is that of its end.
  assert.match(rows[0], /^generation3$/);
  const [file] = await Promise.all(
      [page.waitForEvent('download'), page.click('[data-do="csv"]')]);
  const csv = await readFile(await file.path(), 'utf8');
  for (const run of ['slow', 'fast']) {
    assert.match(csv, new RegExp(`^"${run}","Policy loss, nats",`, 'm'));
  }

  const differences = page.locator('#rest table');
  assert.deepEqual(
      await differences.locator('tbody th').allTextContents(),
      ['generations', 'learner.learning_rate']);
  assert.match(await differences.textContent(), /0\.02/);

  await page.selectOption('[aria-label="Games of"]', '1');
  await page.waitForSelector('[data-game="71"]');
  await page.waitForFunction(() =>
    /^Game 71 by ckpt-000002/.test(
        document.querySelector('.viewer h2').textContent));
  await page.waitForFunction(() => {
    const picture = document.querySelector('.viewer img');
    return /run=1$/.test(picture.src) && picture.complete &&
        picture.naturalWidth > 0;
  });

  // A process that trains has the lock.
  const trainer = spawn('flock', [path.join(second, 'lock'), 'cat'],
                        {stdio: ['pipe', 'ignore', 'inherit']});
  await page.waitForFunction(() =>
    /Running: generation 3 of 3, .*less than a minute left/.test(
        document.querySelector('#run-state').textContent));
  trainer.stdin.end();
  await page.waitForFunction(() =>
    !/Running/.test(document.querySelector('#run-state').textContent));

  for (const [name, size, colorScheme] of [
    ['desktop', DESKTOP, 'dark'], ['phone', PHONE, 'light'],
  ]) {
    await page.setViewportSize(size);
    await page.emulateMedia({colorScheme});
    await takePicture(page, `runs_${name}`);
    await checkAccess(page, name);
  }
  assert.equal(
      (await fetch(`${address}run/about.json?run=2`)).status, 400);
  assert.deepEqual(problems, []);
});
