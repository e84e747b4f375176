// The npm package tara-core as its users get it: packed, installed in a fresh
// project, typed, run by Node.js, and built by Vite into the example of a
// front-end.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {
  cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {promisify} from 'node:util';

import {build} from 'vite';

import {startBrowser, watchPage} from '../../tests/js/browser.mjs';
import {root, servePage} from '../../tests/js/tara.mjs';
import {makeTinyBundle} from './bundles.mjs';
import {checkAccess, outputFile, suiteContext, webRoot} from './harness.mjs';

const run = promisify(execFile);

describe('the package tara-core', () => {
  const suite = suiteContext();
  let project;
  before(async () => {
    project = mkdtempSync(path.join(tmpdir(), 'tara project '));
    await run(path.join(webRoot, 'build.sh'), ['package']);
    const built = path.join(webRoot, '.build', 'npm');
    const [packed] = readdirSync(built).filter((name) => name.endsWith('.tgz'));
    cpSync(path.join(built, packed), path.join(project, packed));
    cpSync(path.join(root, 'examples', 'front_end'), project,
           {recursive: true});
    const file = path.join(project, 'package.json');
    const description = JSON.parse(readFileSync(file));
    description.dependencies['tara-core'] = `file:./${packed}`;
    delete description.devDependencies;  // Vite is that of this package
    writeFileSync(file, JSON.stringify(description));
    await run('npm', ['install', '--offline', '--no-audit'], {cwd: project});
    writeFileSync(path.join(project, 'tiny.tara'), makeTinyBundle());
  });
  after(() => rmSync(project, {recursive: true, force: true}));

  // Runs a module of the project in Node.js: what it prints.
  async function inNode(text) {
    writeFileSync(path.join(project, 'program.mjs'), text);
    return (await run('node', ['program.mjs'], {cwd: project})).stdout;
  }

  // What it does there is in engine.test.mjs and network.test.mjs.
  test('rejects what is under way when it is closed, and lets Node.js end',
       async () => {
    const said = await inNode(`
      import {createEngine} from 'tara-core';

      const engine = await createEngine();
      const last = engine.search({simulations: 1_000_000}).result;
      engine.close();
      const found = await Promise.allSettled([last, engine.game()]);
      console.log(found.map(({reason}) => reason.message).join());`);
    assert.equal(said, 'the engine is closed,the engine is closed\n');
  });

  test('runs the program of its README', async () => {
    const readme = readFileSync(
        path.join(project, 'node_modules', 'tara-core', 'README.md'), 'utf8');
    const [, program] = /```js\n(import .*?)```/s.exec(readme);
    writeFileSync(path.join(project, 'tara.tara'), makeTinyBundle());
    assert.match(await inNode(program), /'sacred_hill_l1',[^]*\n44 <svg/);
  });

  test('has types, by either way of finding modules', async () => {
    writeFileSync(path.join(project, 'typed.ts'), `
      import { createEngine, type Engine, type SearchResult } from 'tara-core';
      const engine: Engine = await createEngine();
      const found: SearchResult = await engine.search().result;
      export const notation: string = found.action.notation;
      // @ts-expect-error: an action is an index or a text
      await engine.play({});
    `);
    await Promise.all(
        [['nodenext', 'nodenext'], ['esnext', 'bundler']].map((ways) => run(
            path.join(webRoot, 'node_modules', '.bin', 'tsc'),
            ['--noEmit', '--strict', '--target', 'es2022', '--module', ways[0],
             '--moduleResolution', ways[1], 'typed.ts'],
            {cwd: project})));
  });

  test('is a front-end when Vite has built the example', async () => {
    await build({root: project, logLevel: 'error'});
    const address =
        await servePage(suite, ['--page', path.join(project, 'dist')]);
    const page = await (await startBrowser(suite)).newPage();
    const problems = watchPage(page, {allowed: address});
    await page.goto(address);
    // A hill for both sides.
    const turn = () => page.waitForFunction(
        () => document.querySelector('#board button:enabled'));
    await turn();
    await page.selectOption('#level', 'level:1');
    await page.setInputFiles('#network', path.join(project, 'tiny.tara'));
    await page.waitForSelector('#said:has-text("tiny.tara plays Blue")');
    await page.click('[data-hill="D4"]');
    await page.waitForSelector('#board .blue');
    assert.equal(
        await page.getAttribute('[data-hill="D4"]', 'class'), 'red');
    // A king goes from hill to hill.
    await page.selectOption('#variant', 'high_kings_l1');
    for (let i = 0; i < 200; ++i) {
      await turn();
      const pressed = await page.$('[aria-pressed="true"]');
      if (pressed !== null) break;
      await page.click('#board button:enabled');
      if (await page.$('[aria-pressed="true"]') !== null) break;
    }
    assert.ok(await page.$('[aria-pressed="true"]'), 'a king was chosen');
    await checkAccess(page, 'the example');
    await page.screenshot({path: outputFile('front_end.png')});
    // Whatever is no bundle is refused with the reason.
    await page.setInputFiles('#network', path.join(project, 'package.json'));
    await page.waitForSelector('#said:has-text("not a usable model bundle")');
    assert.deepEqual(problems, []);
  });
});
