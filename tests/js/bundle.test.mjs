// Model bundles outside of the program: ONNX Runtime computes from their models
// what LibTorch computed, or the code of light networks, and whoever reads the
// files finds what they promise.

import assert from 'node:assert/strict';
import {copyFile, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';

import {unzipSync} from 'fflate';
import {InferenceSession, Tensor} from 'onnxruntime-node';

import {root, tara, temporaryFolder} from './tara.mjs';

// Bundles of a small tower and of a light network, by the type of their weights,
// and that of an earlier program.
const bundles = {};

// Returns {shape, values} of a NumPy file of float32.
function readNpy(entry) {
  const bytes = Buffer.from(entry);
  assert.equal(bytes.toString('latin1', 1, 6), 'NUMPY');
  const begin = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, begin);
  assert.match(header, /'descr': '<f4', 'fortran_order': False/);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',')
      .map((axis) => Number(axis));
  const copy = new Uint8Array(bytes.subarray(begin));
  return {shape, values: new Float32Array(copy.buffer)};
}

function readBundle(bytes) {
  const entries = unzipSync(bytes);
  const json = (name) => JSON.parse(Buffer.from(entries[name]));
  const manifest = json('manifest.json');
  const golden = {};
  for (const [name, file] of Object.entries(manifest.golden.tensors)) {
    golden[name] = readNpy(entries[file]);
  }
  return {entries, manifest, golden, positions: json('golden.json').positions};
}

// Returns the outputs of a model for rows `begin` to `end` of the golden inputs.
async function run(model, {manifest, golden}, begin, end) {
  const session = await InferenceSession.create(
      model, {intraOpNumThreads: 1, logSeverityLevel: 3});
  const inputs = {};
  for (const {name, shape} of manifest.inputs) {
    const size = shape.slice(1).reduce((product, axis) => product * axis, 1);
    const rows = golden[name].values.slice(begin * size, end * size);
    inputs[name] =
        new Tensor('float32', rows, [end - begin, ...shape.slice(1)]);
  }
  return session.run(inputs);
}

// Returns the largest |o - g| / max(1, |g|) over the golden values that are
// numbers, from row `begin` on.
function difference(outputs, {manifest, golden}, begin = 0) {
  let largest = 0;
  for (const {name, shape} of manifest.outputs) {
    const size = shape.slice(1).reduce((product, axis) => product * axis, 1);
    const {data} = outputs[name];
    const values = golden[name].values;
    let compared = 0;
    for (let i = 0; i < data.length; ++i) {
      const g = values[begin * size + i];
      if (Number.isNaN(g)) continue;
      assert.ok(Number.isFinite(data[i]), name);
      largest = Math.max(largest, Math.abs(data[i] - g) / Math.max(1, Math.abs(g)));
      ++compared;
    }
    assert.ok(compared > 0, `nothing of ${name} was compared`);
  }
  return largest;
}

const folder = await mkdtemp(path.join(tmpdir(), 'tara-test-'));
after(() => rm(folder, {recursive: true, force: true}));

// Trains a network a little and returns the folder of its run.
async function train(name, network) {
  const config = path.join(folder, `${name}.textproto`);
  await writeFile(config, `
      variant: "all" seed: 3 generations: 1
      network { ${network} }
      self_play { games_per_generation: 20 threads: 1 games_per_thread: 20
                  search { simulations: 4 } }
      learner { steps_per_generation: 8 batch_size: 32 threads: 1
                owner_loss_weight: 0.5 }
      evaluation { final_games: 2 opponent: "random" simulations: 2 }`);
  const run_dir = path.join(folder, name);
  const trained = await tara(['train', config, '--set', `run_dir=${run_dir}`]);
  assert.equal(trained.status, 0, trained.stderr);
  return run_dir;
}

before(async () => {
  const tower = await train('tower', 'channels: 16 blocks: 3');
  const light = await train('light', 'kind: "light" blocks: 2');
  for (const [name, run, weights] of [
    ['float32', tower, 'float32'], ['float16', tower, 'float16'],
    ['light', light, 'float32'], ['lightFloat16', light, 'float16'],
  ]) {
    const file = path.join(folder, `${name}.tara`);
    const made = await tara(['export', run, '-o', file, '--weights', weights]);
    assert.equal(made.status, 0, made.stderr);
    bundles[name] = {file, ...readBundle(await readFile(file))};
  }
  const file = path.join(root, 'tests/nn/witness/bundle.tara');
  bundles.earlier = {file, ...readBundle(await readFile(file))};
});

// The tables of actions as docs/reference/bundle.md describes them.
// Returns [file, rank] of the 45 hills, both from 0, in canonical order.
function listHills() {
  const hills = [];
  for (let rank = 0; rank < 7; ++rank) {
    for (let file = 0; file < 7; ++file) {
      if (![0, 6].includes(rank) || ![0, 6].includes(file)) {
        hills.push([file, rank]);
      }
    }
  }
  return hills;
}
const hills = listHills();
const nameOf = ([file, rank]) => 'ABCDEFG'[file] + (rank + 1);

// Returns [sign between the hills, hills..., sign behind them] of the actions.
function listActions() {
  const pairs = (belong) => hills.flatMap(
      (from) => hills.filter((to) => belong(to[0] - from[0], to[1] - from[1]))
          .map((to) => [from, to]));
  const moves = pairs((x, y) => Math.abs(x * y) === 2);
  const links = pairs((x, y) => x + y === 1 && x * y === 0);
  return [
    ...hills.map((hill) => ({hills: [hill], sign: '', end: ''})),
    ...moves.map((pair) => ({hills: pair, sign: '-', end: ''})),
    ...moves.map((pair) => ({hills: pair, sign: '-', end: '*'})),
    ...links.map((pair) => ({hills: pair, sign: '=', end: ''})),
    {hills: [], sign: '', end: 'pass'},
  ];
}
const actions = listActions();
const notationOf = ({hills, sign, end}) => hills.map(nameOf).join(sign) + end;
const indices = new Map(
    actions.map((action, index) => [notationOf(action), index]));

// Returns where a board transform takes a hill.
function transformed([file, rank], transform) {
  if (transform & 4) [file, rank] = [rank, file];
  if (transform & 1) file = 6 - file;
  if (transform & 2) rank = 6 - rank;
  return [file, rank];
}

// Returns the index of the action that a board transform makes of one.
function transformedIndex({hills, sign, end}, transform) {
  const moved = hills.map((hill) => transformed(hill, transform));
  // The first hill of a link is the lower one.
  if (sign === '=') {
    moved.sort(([file, rank], [file2, rank2]) => rank - rank2 || file - file2);
  }
  return indices.get(notationOf({hills: moved, sign, end}));
}

// Returns the symmetries [board, seat_shift] that take a seat to seat 0.
function symmetriesOf(variant, seat) {
  if (variant.includes('doubles')) return [[[0, 0], [5, 3], [3, 2], [6, 1]][seat]];
  const boards = [0, 1, 2, 3, 4, 5, 6, 7];
  return boards
      .filter((board) => variant !== 'poisoned_chalice' || board >> 2 === seat)
      .map((board) => [board, seat]);
}

// How far a model of ONNX is from the golden outputs of a bundle.
async function differenceOf(file, bundle, begin, end) {
  const outputs = await run(bundle.entries[file], bundle, begin, end);
  return difference(outputs, bundle, begin);
}

test('ONNX Runtime computes the golden outputs, in batches of any size',
     async () => {
  for (const bundle of Object.values(bundles)) {
    const {length} = bundle.positions;
    assert.ok(await differenceOf('model.onnx', bundle, 0, length) <= 1e-4);
    for (const {name, file, opset, tolerance} of bundle.manifest.forms) {
      if (opset === undefined) continue;  // TorchScript, of the earlier program
      assert.equal(opset, 17);
      for (const [begin, end] of [[0, 1], [7, 14], [10, 40]]) {
        const found = await differenceOf(file, bundle, begin, end);
        assert.ok(found <= tolerance, `${name}: ${found}`);
      }
    }
  }
});

test('rounded weights are those of both ONNX models', async () => {
  for (const [rounded, exact] of [
    [bundles.float16, bundles.float32], [bundles.lightFloat16, bundles.light],
  ]) {
    const outputs = await run(rounded.entries['model_float16.onnx'],
                              rounded, 0, rounded.positions.length);
    assert.ok(difference(outputs, rounded) <= 1e-4);
    // But they are not those of the other bundle.
    assert.ok(difference(outputs, exact) > 1e-5);
  }
});

test('the expected chances follow from the logits as the document says',
     () => {
       assert.equal(actions.length, 570);
       const {positions, golden} = bundles.float32;
       assert.equal(positions.length, 200);
       positions.forEach((position, row) => {
         const {board, seat_shift} = position.symmetry;
         const seat = Number(position.position.split(' ')[2]);
         assert.ok(symmetriesOf(position.variant, seat).some(
             (pair) => pair[0] === board && pair[1] === seat_shift));
         const logits = position.action_indices.map((index, i) => {
           const seen = transformedIndex(actions[index], board);
           assert.equal(seen, position.network_indices[i]);
           assert.equal(notationOf(actions[index]), position.actions[i]);
           return golden.policy.values[570 * row + seen];
         });
         const most = Math.max(...logits);
         const powers = logits.map((logit) => Math.exp(logit - most));
         const sum = powers.reduce((a, b) => a + b, 0);
         powers.forEach((power, i) => {
           assert.ok(
               Math.abs(power / sum - position.expected.priors[i]) < 2e-6);
         });
       });
     });

test('`tara model verify` finds that all parts agree', async () => {
  for (const {file, manifest} of Object.values(bundles)) {
    const {status, stdout, stderr} =
        await tara(['model', 'verify', file, '--format=json']);
    assert.equal(status, 0, stdout + stderr);
    const results = Object.fromEntries(
        JSON.parse(stdout).forms.map(({form, result}) => [form, result]));
    const weights = manifest.network.kind === 'light' ?
        {float32: 'agrees', int8: 'agrees'} :
        {libtorch: 'agrees', tara: 'agrees'};
    assert.deepEqual(results, {
      inputs: 'agrees', expected: 'agrees', ...weights, onnx: 'agrees',
      onnx_float16: 'agrees',
    });
  }
});

test('a bundle plays, and a copy with another name, too', async (t) => {
  for (const {file} of [bundles.float32, bundles.light]) {
    const copy = path.join(await temporaryFolder(t), 'copy.zip');
    await copyFile(file, copy);
    const {status, stdout, stderr} = await tara(
        ['arena', '--variant', 'four_treasures', '--games', '2',
         `net:${file},sims=4`, `net:${copy},sims=4`]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /four_treasures +2 /);
  }
});

test('`tara model` says of which kind the network is', async () => {
  for (const [{file}, expected] of [
    [bundles.float32, /: 16 channels x 3 blocks, \d+ parameters/],
    [bundles.light, /: a light network of 64 channels x 2 layers, \d+ par/],
  ]) {
    const {status, stdout, stderr} = await tara(['model', file]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, expected);
  }
});

test('the licence is the project\'s', async () => {
  const licence = await readFile(path.join(root, 'LICENSE'), 'utf8');
  assert.equal(String(Buffer.from(bundles.float32.entries.LICENSE)), licence);
});
