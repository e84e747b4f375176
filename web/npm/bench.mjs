// Simulations a second of the built package, by variant, in Node.js:
//
//   web/build.sh package && node web/npm/bench.mjs [BUNDLE]
//
// Of each variant's initial position, 1,024 simulations, the best of three.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {createEngine} from '../.build/npm/tara-core/index.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const SIMULATIONS = 1024;

const bundle =
    process.argv[2] ?? path.join(here, '..', '..', 'models', 'tara.tara');
const engine = await createEngine();
await engine.loadNetwork(readFileSync(bundle), path.basename(bundle));
for (const {id} of engine.info.variants) {
  await engine.newGame(id);
  let best = Infinity;
  for (let seed = 1; seed <= 3; ++seed) {
    const {simulations, milliseconds} =
        await engine.search({simulations: SIMULATIONS, seed}).result;
    best = Math.min(best, milliseconds / simulations);
  }
  console.log(`${id.padEnd(24)}${Math.round(1000 / best).toString().padStart(8)}`);
}
