// Serves the built page on this machine: node serve.mjs PORT. With port 0 a
// free one is found.

import {fileURLToPath} from 'node:url';

import {preview} from 'vite';

const port = Number(process.argv[2]);
try {
  const server = await preview({
    root: fileURLToPath(new URL('.', import.meta.url)),
    logLevel: 'warn',
    preview: {port, strictPort: true, open: false},
  });
  const {port: found} = server.httpServer.address();
  console.log(`Play at http://localhost:${found}/ (stop with Ctrl+C)`);
} catch (error) {
  // Vite's message says which port is in use.
  console.error(
      `tara: cannot serve the page: ${error.message} (--port 0 finds a free ` +
      'one)');
  process.exit(1);
}
