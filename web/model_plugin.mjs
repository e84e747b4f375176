// The model that the page begins with, served and built as `model.tara`: the
// ready-made one.

import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';

const ADDRESS = 'model.tara';

// Returns the path of the bundle, or null.
export function findModel(root) {
  const file = path.join(root, '..', 'models', 'tara.tara');
  return existsSync(file) ? file : null;
}

export function modelPlugin(root) {
  const serve = (server) => {
    server.middlewares.use((request, response, next) => {
      if (request.url?.split('?')[0] !== `/${ADDRESS}`) return next();
      const file = findModel(root);
      response.setHeader('Content-Type', 'application/zip');
      response.setHeader('Cache-Control', 'no-cache');
      // Not 404, which browsers log as an error: there need be none.
      response.statusCode = file === null ? 204 : 200;
      return response.end(file === null ? undefined : readFileSync(file));
    });
  };
  return {
    name: 'tara-model',
    configureServer: serve,
    generateBundle() {
      const file = findModel(root);
      if (file === null) return;
      this.emitFile(
          {type: 'asset', fileName: ADDRESS, source: readFileSync(file)});
    },
  };
}
