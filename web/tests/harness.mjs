// What the tests of the page share: the built page, served, in the real
// browser without a window. `npm test` builds it before the tests.

import {mkdirSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {after} from 'node:test';
import {fileURLToPath} from 'node:url';

import {startBrowser, watchPage} from '../../tests/js/browser.mjs';
import {servePage} from '../../tests/js/tara.mjs';

export {checkAccess} from '../../tests/js/browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

// The root of this package.
export const webRoot = path.resolve(here, '..');

// Where tests leave what people may want to look at. Not under git.
export const outputFolder = path.join(webRoot, 'test-output');

// What a suite passes as `context` below, for all of its tests: called in the
// suite's body. (The contexts of its hooks know no `after`.)
export function suiteContext() {
  const todo = [];
  after(async () => {
    while (todo.length > 0) await todo.pop()();
  });
  return {after: (clean) => todo.push(clean)};
}

// Serves what `npm test` has built until the test `context` ends.
// Returns its address, which ends with a slash.
export function startServer(context) {
  return servePage(context, ['--page', path.join(webRoot, '.build', 'test')]);
}

// Server, browser and a page of it at `file`, such as 'index.html'. Returns
// {page, problems, address}. `options` are those of Playwright's newContext.
export async function openPage(context, file, options = {}) {
  const address = await startServer(context);
  const browser = await startBrowser(context);
  const page = await (await browser.newContext(options)).newPage();
  const problems = watchPage(page, {allowed: address});
  await page.goto(address + file);
  return {page, problems, address};
}

// A page that has nothing but the engine: `page.evaluate` may then await
// window.engine.
export async function openEngine(context) {
  const opened = await openPage(context, 'tests/pages/engine.html');
  await opened.page.evaluate(() => window.engine);
  return opened;
}

// The compiled core, in this process.
export async function loadCore() {
  const folder = path.join(webRoot, '.build', 'wasm');
  const {default: create} =
      await import(path.join(folder, 'tara_core.mjs'));
  const wasmBinary = await readFile(path.join(folder, 'tara_core.wasm'));
  return create({wasmBinary});
}

// Returns the path of a file in the output folder, which it makes.
export function outputFile(name) {
  mkdirSync(outputFolder, {recursive: true});
  return path.join(outputFolder, name);
}
