// Makes the folder of the npm package tara-core, web/.build/npm/tara-core, of
// web/src/package.ts and what web/wasm/build.sh has compiled; web/build.sh calls
// both.

import {execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {build} from 'vite';

import {licences} from '../site/plugin.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const web = path.dirname(here);
const root = path.dirname(web);
const made = path.join(web, '.build', 'npm', 'tara-core');
const MODULE = 'tara_core.mjs';

await build({
  configFile: false,
  logLevel: 'error',
  build: {
    target: 'es2022',
    outDir: made,
    emptyOutDir: true,
    minify: false,
    lib: {
      entry: path.join(web, 'src', 'package.ts'),
      formats: ['es'],
      fileName: () => 'index.js',
    },
    rollupOptions: {
      external: (id) => id.endsWith(MODULE),
      output: {paths: (id) => id.endsWith(MODULE) ? `./${MODULE}` : id},
    },
  },
});
for (const file of [MODULE, 'tara_core.wasm']) {
  cpSync(path.join(web, '.build', 'wasm', file), path.join(made, file));
}

// Types: of the functions of the package, and of all that they speak of.
const types = path.join(made, 'types');
execFileSync(
    path.join(web, 'node_modules', '.bin', 'tsc'),
    ['--project', path.join(here, 'tsconfig.json'), '--outDir', types],
    {stdio: 'inherit'});
mkdirSync(path.join(made, 'engine'));
cpSync(path.join(types, 'package.d.ts'), path.join(made, 'index.d.ts'));
cpSync(path.join(types, 'engine', 'api.d.ts'),
       path.join(made, 'engine', 'api.d.ts'));
rmSync(types, {recursive: true});

const description = JSON.parse(readFileSync(path.join(here, 'package.json')));
const [, version] = /kVersion\[\] = "(.*)"/.exec(
    readFileSync(path.join(root, 'tara', 'base', 'version.h'), 'utf8'));
writeFileSync(path.join(made, 'package.json'),
              `${JSON.stringify({...description, version}, null, 2)}\n`);
cpSync(path.join(here, 'README.md'), path.join(made, 'README.md'));
cpSync(path.join(root, 'LICENSE'), path.join(made, 'LICENSE'));
writeFileSync(path.join(made, 'licences.txt'), licences({typefaces: false}));
