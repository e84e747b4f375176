// Model bundles outside of the program: what ONNX Runtime says of their models
// is what LibTorch said, and whoever reads the files finds what they promise.

import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {
  copyFile, mkdir, mkdtemp, readFile, rm, writeFile,
} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {inflateRawSync} from 'node:zlib';

import {InferenceSession, Tensor} from 'onnxruntime-node';

import {startBrowser, watchPage} from './browser.mjs';
import {outputFile, root, tara, temporaryFolder} from './tara.mjs';

// Bundles of a small network, by the type of their weights.
const bundles = {};

// Returns the entries of a zip archive by name. Sizes are read from the central
// directory, whose records begin with PK\1\2.
function unzip(bytes) {
  const entries = new Map();
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'));
  let at = bytes.readUInt32LE(end + 16);
  for (let i = bytes.readUInt16LE(end + 10); i > 0; --i) {
    assert.equal(bytes.readUInt32LE(at), 0x02014b50);
    const method = bytes.readUInt16LE(at + 10);
    const size = bytes.readUInt32LE(at + 20);
    const nameSize = bytes.readUInt16LE(at + 28);
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameSize);
    const begin = local + 30 + bytes.readUInt16LE(local + 26) +
        bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(begin, begin + size);
    entries.set(name, method === 0 ? packed : inflateRawSync(packed));
    at += 46 + nameSize + bytes.readUInt16LE(at + 30) +
        bytes.readUInt16LE(at + 32);
  }
  return entries;
}

// Returns {shape, values} of a NumPy file of float32.
function readNpy(bytes) {
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
  const entries = unzip(bytes);
  const json = (name) => JSON.parse(entries.get(name).toString('utf8'));
  const manifest = json('manifest.json');
  const golden = {};
  for (const [name, file] of Object.entries(manifest.golden.tensors)) {
    golden[name] = readNpy(entries.get(file));
  }
  return {entries, manifest, golden,
          specification: json('specification.json'),
          positions: json('golden.json').positions};
}

// Returns the outputs of a model for rows `begin` to `end` of the golden inputs.
async function run(model, {manifest, golden}, begin, end) {
  const session = await InferenceSession.create(
      new Uint8Array(model), {intraOpNumThreads: 1, logSeverityLevel: 3});
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

before(async () => {
  const config = path.join(folder, 'tiny.textproto');
  await writeFile(config, `
      variant: "all" seed: 3 generations: 1
      network { channels: 16 blocks: 3 }
      self_play { games_per_generation: 20 threads: 1 games_per_thread: 20
                  search { simulations: 4 } }
      learner { steps_per_generation: 8 batch_size: 32 threads: 1
                owner_loss_weight: 0.5 }
      evaluation { final_games: 2 opponent: "random" simulations: 2 }`);
  const run_dir = path.join(folder, 'tiny');
  const trained = await tara(['train', config, '--set', `run_dir=${run_dir}`]);
  assert.equal(trained.status, 0, trained.stderr);
  for (const weights of ['float32', 'float16']) {
    const file = path.join(folder, `${weights}.tara`);
    const made = await tara(['export', run_dir, '-o', file, '--weights', weights]);
    assert.equal(made.status, 0, made.stderr);
    bundles[weights] = {file, ...readBundle(await readFile(file))};
  }
});

test('ONNX Runtime says what LibTorch says, within 1e-4', async () => {
  for (const weights of ['float32', 'float16']) {
    const bundle = bundles[weights];
    const outputs = await run(bundle.entries.get('model.onnx'), bundle, 0,
                              bundle.positions.length);
    assert.ok(difference(outputs, bundle) <= 1e-4);
  }
});

test('every form of ONNX keeps its tolerance, in batches of any size',
     async () => {
       for (const weights of ['float32', 'float16']) {
         const bundle = bundles[weights];
         for (const form of bundle.manifest.forms) {
           if (form.opset === undefined) continue;
           assert.equal(form.opset, 17);
           for (const [begin, end] of [[0, 1], [7, 14], [100, 164]]) {
             const outputs =
                 await run(bundle.entries.get(form.file), bundle, begin, end);
             const found = difference(outputs, bundle, begin);
             assert.ok(found <= form.tolerance, `${form.name}: ${found}`);
           }
         }
       }
     });

test('rounded weights are those of both ONNX models', async () => {
  const bundle = bundles.float16;
  const outputs = await run(bundle.entries.get('model_float16.onnx'), bundle, 0,
                            bundle.positions.length);
  assert.ok(difference(outputs, bundle) <= 1e-4);
  // But they are not those of the other bundle.
  assert.ok(difference(outputs, bundles.float32) > 1e-5);
});

test('the expected chances follow from the logits as the specification says',
     () => {
       const {positions, golden, specification} = bundles.float32;
       assert.equal(positions.length, 200);
       positions.forEach((position, row) => {
         const {board} = position.symmetry;
         const logits = position.action_indices.map((action, i) => {
           const index = specification.action_transforms[board][action];
           assert.equal(index, position.network_indices[i]);
           assert.equal(specification.actions[action].notation,
                        position.actions[i]);
           return golden.policy.values[570 * row + index];
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

test('`tara model verify` runs all forms and finds that they agree', async () => {
  for (const weights of ['float32', 'float16']) {
    const {status, stdout, stderr} = await tara(
        ['model', 'verify', bundles[weights].file, '--torchscript',
         '--format=json']);
    assert.equal(status, 0, stdout + stderr);
    const results = Object.fromEntries(
        JSON.parse(stdout).forms.map(({form, result}) => [form, result]));
    assert.deepEqual(results, {
      inputs: 'agrees', expected: 'agrees', libtorch: 'agrees',
      onednn: 'agrees', onnx: 'agrees', onnx_float16: 'agrees', torchscript: 'agrees',
    });
  }
});

test('without ONNX Runtime `tara model verify` says that ONNX was not run',
     async (t) => {
       const {status, stdout} = await tara(
           ['model', 'verify', bundles.float32.file],
           {taraRoot: await temporaryFolder(t)});
       assert.equal(status, 0);
       assert.match(stdout, /^onnx +model\.onnx by ONNX Runtime +not run/m);
       assert.match(stdout, /onnxruntime-node is not installed/);
     });

test('`tara model verify` loads no code of the folder where it is started, or ' +
         'of those above the project',
     async (t) => {
       const folder = await temporaryFolder(t);
       const trap = async (where) => {
         await mkdir(path.join(where, 'node_modules/onnxruntime-node'),
                     {recursive: true});
         await writeFile(
             path.join(where, 'node_modules/onnxruntime-node/index.js'),
             `require('fs').writeFileSync(${
               JSON.stringify(path.join(folder, 'sprung'))}, '')`);
       };
       await trap(folder);
       await trap(path.join(folder, 'tests/js'));
       const project = path.join(folder, 'project');
       await mkdir(path.join(project, 'tests/js'), {recursive: true});
       for (const taraRoot of [undefined, '', project]) {
         const {status, stdout} = await tara(
             ['model', 'verify', bundles.float32.file], {cwd: folder, taraRoot});
         assert.equal(status, 0, stdout);
         assert.match(stdout, /^onnx +model\.onnx by ONNX Runtime +not run/m);
         assert.ok(!existsSync(path.join(folder, 'sprung')), String(taraRoot));
       }
     });

test('a bundle plays, and a copy with another name, too', async (t) => {
  const copy = path.join(await temporaryFolder(t), 'copy.zip');
  await copyFile(bundles.float32.file, copy);
  const {status, stdout, stderr} = await tara(
      ['arena', '--variant', 'four_treasures', '--games', '2',
       `net:${bundles.float32.file},sims=4`, `net:${copy},sims=4`]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /four_treasures +2 /);
});

test('the page of the specification stands by itself and fits a phone',
     async (t) => {
       const file = path.join(await temporaryFolder(t), 'specification.html');
       await writeFile(file, bundles.float32.entries.get('specification.html'));
       const page = await (await startBrowser(t)).newPage(
           {viewport: {width: 390, height: 844}});
       const problems = watchPage(page);
       await page.goto(`file://${file}`);
       assert.deepEqual(problems, []);
       assert.match(await page.textContent('main'), /own_ringfort/);
       const width = await page.evaluate(
           () => document.documentElement.scrollWidth);
       assert.ok(width <= 390, `${width} pixels wide`);
       await page.screenshot({path: await outputFile('specification.png')});
     });

test('the licence is the project\'s', async () => {
  const licence = await readFile(path.join(root, 'LICENSE'), 'utf8');
  assert.equal(bundles.float32.entries.get('LICENSE').toString(), licence);
});
