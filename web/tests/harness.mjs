// What the tests of the page share: the built page, served, in the real
// browser without a window. `npm test` builds it before the tests.

import {mkdirSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {after} from 'node:test';
import {fileURLToPath} from 'node:url';

import {createServer} from 'vite';

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

// The compiled core, in this process.
const compiled = path.join(webRoot, '.build', 'wasm');
const wasmBinary = () => readFile(path.join(compiled, 'tara_core.wasm'));
export async function loadCore() {
  const {default: create} =
      await import(path.join(compiled, 'tara_core.mjs'));
  return create({wasmBinary: await wasmBinary()});
}

// Modules of the page that need no browser, compiled for this process; nothing
// is served. Returns a function that takes a path like '/src/ui/selection.ts'.
export function moduleLoader() {
  const vite = createServer({
    root: webRoot,
    logLevel: 'error',
    appType: 'custom',
    optimizeDeps: {noDiscovery: true},
    server: {middlewareMode: true, hmr: false, watch: null},
  });
  after(async () => (await vite).close());
  return async (path) => (await vite).ssrLoadModule(path);
}

// The engine, in this process.
export async function makeEngine(load = moduleLoader()) {
  const {createEngine} = await load('/src/package.ts');
  return createEngine(await wasmBinary());
}

// The positions of a random game of a variant, from its start to its end, each
// as text and as the core's view of it, with the legal actions and the notations
// of those that were played.
export function* randomGame(core, variant, random) {
  const {actions} = core.catalogue();
  let text = core.initialPosition(variant, '-').value;
  for (const played = [];;) {
    const view = core.view(text);
    const legal = view.legal.map((index) => actions[index]);
    yield {text, view, legal, played};
    if (view.finished) return;
    const {notation} = legal[Math.floor(random() * legal.length)];
    played.push(notation);
    text = core.play(text, notation).value.text;
  }
}

// Returns the path of a file in the output folder, which it makes.
export function outputFile(name) {
  mkdirSync(outputFolder, {recursive: true});
  return path.join(outputFolder, name);
}
