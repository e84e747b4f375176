import {existsSync, readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vite';

import {bundleForPage, sitePlugin} from './site/plugin.mjs';
import {fileId} from './src/engine/zip.ts';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

// What the page may load and ask for: its own files. The policy is in the built
// page itself, so that it holds on any server. WebAssembly is compiled by its
// worker alone.
const policy = {
  'default-src': "'none'",
  'script-src': "'self' 'wasm-unsafe-eval'",
  'worker-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'object-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
};
const policyText = Object.entries(policy)
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');

const policyPlugin = {
  name: 'tara-policy',
  apply: 'build',
  transformIndexHtml: () => [{
    tag: 'meta',
    attrs: {
      'http-equiv': 'Content-Security-Policy',
      'content': policyText,
    },
    injectTo: 'head-prepend',
  }],
};

// The ready-made model, which the page begins with.
const readyMade = path('../models/tara.tara');
const modelPlugin = {
  name: 'tara-model',
  generateBundle() {
    if (!existsSync(readyMade)) return;
    this.emitFile({
      type: 'asset',
      fileName: 'model.tara',
      source: readFileSync(readyMade),
    });
  },
};

// Emscripten's module names its file itself, for callers that do not. The page
// fetches it packed.
const packedOnly = {
  name: 'tara-packed-only',
  generateBundle(_, bundle) {
    for (const file of Object.keys(bundle)) {
      if (file.endsWith('.wasm')) delete bundle[file];
    }
  },
};

// `vite build --mode test` builds the page for the tests, `--mode site` the page
// for a web space, with the bundle that TARA_MODEL names.
export default defineConfig(({mode}) => {
  const site = mode === 'site';
  const bundle =
      process.env.TARA_MODEL || (existsSync(readyMade) ? readyMade : null);
  // A site has the network without what its page does not read.
  const source = site && bundle !== null ? readFileSync(bundle) : null;
  const network = source === null ? null : bundleForPage(source);
  // A run is watched where it is.
  const pages = site ? ['index.html'] : ['index.html', 'run.html'];
  return {
    // No page is served in place of another that is missing.
    appType: 'mpa',
    plugins: [
      site ? sitePlugin({network, policy: policyText}) : modelPlugin,
      policyPlugin,
    ],
    define: {
      // What servers that do not tell the file's name have as model.tara.
      'import.meta.env.TARA_MODEL_NAME':
          JSON.stringify(bundle === null ? '' : basename(bundle)),
      // By the id of a bundle for the page, that of the file it is made of.
      'import.meta.env.TARA_SOURCES': JSON.stringify(
          source === null ? {} : {[fileId(network)]: fileId(source)}),
    },
    // Relative addresses: the built page may lie in any folder of a server.
    base: './',
    // Files that are served as they are, such as the default model.
    publicDir: 'public',
    worker: {format: 'es', plugins: () => [packedOnly]},
    build: {
      target: 'es2022',
      outDir: {test: '.build/test', site: '.build/site'}[mode] ?? 'dist',
      emptyOutDir: true,
      // The modules of workers are found by their URL, never inlined.
      assetsInlineLimit: 0,
      rollupOptions: {input: pages.map(path).filter(existsSync)},
    },
  };
});
