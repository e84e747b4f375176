// Runs an ONNX model with ONNX Runtime, on the CPU:
//   node run_onnx.mjs FOLDER MODULES...
// FOLDER has model.onnx, inputs.json ({name: shape}) and for each input
// NAME.f32; the outputs are written there likewise, with outputs.json. The
// package onnxruntime-node is looked for in node_modules of each of MODULES,
// not of the folders above. Exit status 3: it is nowhere.

import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [folder, ...modules] = process.argv.slice(2);

function findRuntime() {
  for (const from of modules) {
    const runtime = path.resolve(from, 'node_modules', 'onnxruntime-node');
    if (existsSync(runtime)) return createRequire(import.meta.url)(runtime);
  }
  return null;
}

const runtime = findRuntime();
if (runtime === null) process.exit(3);

const inputs = {};
const shapes = JSON.parse(readFileSync(path.join(folder, 'inputs.json')));
for (const [name, shape] of Object.entries(shapes)) {
  const bytes = readFileSync(path.join(folder, `${name}.f32`));
  const values = new Float32Array(
      bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  inputs[name] = new runtime.Tensor('float32', values, shape);
}
const session = await runtime.InferenceSession.create(
    path.join(folder, 'model.onnx'),
    {executionProviders: ['cpu'], intraOpNumThreads: 1, logSeverityLevel: 3});
const outputs = await session.run(inputs);
const written = {};
for (const [name, tensor] of Object.entries(outputs)) {
  if (tensor.type !== 'float32') throw new Error(`${name} is ${tensor.type}`);
  const {buffer, byteOffset, byteLength} = tensor.data;
  writeFileSync(path.join(folder, `${name}.f32`),
                new Uint8Array(buffer, byteOffset, byteLength));
  written[name] = tensor.dims;
}
writeFileSync(path.join(folder, 'outputs.json'), JSON.stringify(written));
