import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vite';

import {modelPlugin} from './model_plugin.mjs';
import {packedPlugin} from './packed_plugin.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

// A page gets threads of WebAssembly (SharedArrayBuffer) only in return for
// these. They are of the server for development; tara/cli/web.cc sends them with
// the built page, and a policy for the workers.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

// What the page may load and ask for: its own files. The policy is in the built
// page itself, so that it holds on any server.
const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'worker-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
};
const policyText = (directives) =>
  Object.entries(directives)
      .map(([name, sources]) => `${name} ${sources}`)
      .join('; ');

const policyPlugin = {
  name: 'tara-policy',
  apply: 'build',
  transformIndexHtml: () => [{
    tag: 'meta',
    attrs: {
      'http-equiv': 'Content-Security-Policy',
      'content': policyText(policy),
    },
    injectTo: 'head-prepend',
  }],
};

// `vite build --mode test` builds the pages of the tests, too.
export default defineConfig(({mode}) => {
  const pages = ['index.html'];
  if (mode === 'test') pages.push('tests/pages/engine.html');
  return {
    // No page is served in place of another that is missing.
    appType: 'mpa',
    plugins: [modelPlugin(path('.')), packedPlugin(), policyPlugin],
    resolve: {
      // The runtime of networks without its WebAssembly inlined: the engine
      // says where its files are.
      conditions: ['onnxruntime-web-use-extern-wasm'],
    },
    // Relative addresses: the built page may lie in any folder of a server.
    base: './',
    // Files that are served as they are, such as the default model.
    publicDir: 'public',
    worker: {format: 'es', plugins: () => [packedPlugin()]},
    build: {
      target: 'es2022',
      outDir: mode === 'test' ? '.build/test' : 'dist',
      emptyOutDir: true,
      // The runtime of the network is one file of megabytes.
      chunkSizeWarningLimit: 2000,
      // The modules of workers are found by their URL, never inlined.
      assetsInlineLimit: 0,
      rollupOptions: {input: pages.map(path).filter(existsSync)},
    },
    optimizeDeps: {exclude: ['onnxruntime-web']},
    server: {headers, host: '127.0.0.1'},
  };
});
