// Bundles for tests: of a tiny network for all variants that the built program
// has hardly trained, and damaged ones.

import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync,
} from 'node:fs';
import path from 'node:path';

import {strFromU8, strToU8, unzipSync, zipSync} from 'fflate';

import {outputFile} from './harness.mjs';
import {binary, root} from '../../tests/js/tara.mjs';

function tara(...args) {
  const {status, stderr, error} =
      spawnSync(binary, args, {cwd: root, encoding: 'utf8'});
  if (status !== 0) {
    throw error ?? new Error(`tara ${args.join(' ')}: ${stderr}`);
  }
}

// Returns the bytes of the bundle, which takes some seconds to make and is kept
// for the other tests of this binary. `network`: settings of the config that
// differ.
export function makeTinyBundle(network = {}) {
  const {mtimeMs, size} = statSync(binary);
  const key = createHash('sha256')
      .update(JSON.stringify([mtimeMs, size, network])).digest('hex');
  const bundle = outputFile(`${key.slice(0, 16)}.tara`);
  if (existsSync(bundle)) return new Uint8Array(readFileSync(bundle));
  const folder = mkdtempSync(`${bundle}.`);
  try {
    const run = path.join(folder, 'run');
    const made = path.join(folder, 'tiny.tara');
    const settings = {
      'variant': 'all',
      'run_dir': run,
      'generations': 1,
      'self_play.games_per_generation': 10,
      'self_play.search.simulations': 2,
      'learner.steps_per_generation': 4,
      'evaluation.every': 0,
      'evaluation.games': 2,
      'evaluation.final_games': 2,
      'evaluation.simulations': 1,
      ...network,
    };
    tara(
        'train', 'configs/tiny.textproto',
        ...Object.entries(settings).flatMap(
            ([name, value]) => ['--set', `${name}=${value}`]));
    tara('export', run, '-o', made);
    renameSync(made, bundle);
    return new Uint8Array(readFileSync(bundle));
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

// Returns the same of a light network.
export const makeLightBundle = () => makeTinyBundle({
  'network.kind': 'light',
  'network.channels': 64,
  'network.blocks': 2,
  'learner.owner_loss_weight': 0.5,
});

// The entries of a bundle: bytes by name.
export const unpack = (bundle) => unzipSync(bundle);

export const readJson = (bytes) => JSON.parse(strFromU8(bytes));

// Returns a bundle of the entries after `change(entries, manifest)`. Entries are
// stored, or deflated as far as can be with `level` 9.
export function altered(entries, change, level = 0) {
  const copy = {...entries};
  const manifest = readJson(copy['manifest.json']);
  copy['manifest.json'] = null;
  change(copy, manifest);
  copy['manifest.json'] ??= strToU8(JSON.stringify(manifest));
  return zipSync(copy, {level});
}

// Returns a bundle of the entries in which 64 bytes of the weights have
// changed.
export function damaged(entries, level = 0) {
  const bundle = Buffer.from(altered(entries, () => {}, level));
  // The name in the entry's own header, 30 bytes from its beginning.
  let name = bundle.indexOf('model.onnx', 30);
  while (bundle.readUInt32LE(name - 30) !== 0x04034b50) {
    name = bundle.indexOf('model.onnx', name + 1);
  }
  // In the middle of the weights, which hardly deflate.
  const place = name + Math.floor(entries['model.onnx'].length / 2);
  for (let i = 0; i < 64; ++i) bundle[place + i] ^= 0x5a;
  return bundle;
}
