// Imports `NAME.wasm?packed`: the address of the file, which is built packed by
// gzip, whatever the server does. What it is called no server takes for a file
// that it should unpack. The server for development serves it as it is:
// src/engine/packed.ts reads both.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import {gzipSync} from 'node:zlib';

const QUERY = '?packed';

export function packedPlugin() {
  let serving = false;
  const packed = new Set();
  return {
    name: 'tara-packed',
    enforce: 'pre',
    configResolved: (config) => {
      serving = config.command === 'serve';
    },
    async resolveId(source, importer) {
      if (!source.endsWith(QUERY)) return null;
      const found =
          await this.resolve(source.slice(0, -QUERY.length), importer);
      return found === null ? null : found.id + QUERY;
    },
    load(id) {
      if (!id.endsWith(QUERY)) return null;
      const file = id.slice(0, -QUERY.length);
      if (serving) {
        return `export {default} from ${JSON.stringify(`${file}?url`)};`;
      }
      const name = path.basename(file);
      packed.add(name);
      const reference = this.emitFile({
        type: 'asset',
        name: `${name}.gzip`,
        source: gzipSync(readFileSync(file), {level: 9}),
      });
      return `export default import.meta.ROLLUP_FILE_URL_${reference};`;
    },
    // Emscripten's module names its file itself, for callers that do not.
    generateBundle(options, bundle) {
      for (const [file, output] of Object.entries(bundle)) {
        const names = output.type === 'asset' ? output.names : [];
        if (names.some((name) => packed.has(name))) delete bundle[file];
      }
    },
  };
}
