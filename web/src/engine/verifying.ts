// Whether a network that runs here says what its bundle says that it should.

import type { Verification } from './api';
import type { Golden, InputCounts } from './bundle';
import type { Core } from './core';
import type { Network } from './network';
import type { NpyArray } from './npy';

const BATCH = 16;
/** Values of a plane: 7 by 7. */
const SQUARES = 49;
const INPUTS = ['planes', 'globals'] as const;

/** Rows first to last (exclusive) of an array. */
function rows(array: NpyArray, first: number, last: number): Float32Array {
  const size = array.data.length / (array.shape[0] ?? 1);
  return array.data.subarray(first * size, last * size);
}

function tensorOf(golden: Golden, name: string): NpyArray {
  const array = golden.tensors[name];
  if (array === undefined || array.shape[0] !== golden.positions.length) {
    throw new Error(`the golden part of the bundle lacks rows of '${name}'`);
  }
  return array;
}

/** Whether the inputs that this engine makes are those of the bundle; a
 * network has the first of them. */
function sameInputs(
    core: Core, golden: Golden, inputs: InputCounts): boolean {
  const sizes = { planes: inputs.planes * SQUARES, globals: inputs.globals };
  return golden.positions.every((text, row) => {
    const answer = core.checkPosition(text);
    if (answer.error !== undefined) return false;
    const judge = new core.Judge(answer.value);
    const batch = judge.batch();
    const same = INPUTS.every((name) => {
      const expected = rows(tensorOf(golden, name), row, row + 1);
      const made = batch[name];
      return expected.length === sizes[name] &&
          expected.every((value, i) => value === made[i]);
    });
    judge.delete();
    return same;
  });
}

export async function verify(
    core: Core, network: Network): Promise<Verification> {
  const golden = network.bundle.golden();
  const outputs =
      Object.keys(golden.tensors).filter(
          (name) => !(INPUTS as readonly string[]).includes(name));
  const count = golden.positions.length;
  let worst = 0;
  let worstOutput = outputs[0] ?? '';
  for (let first = 0; first < count; first += BATCH) {
    const last = Math.min(count, first + BATCH);
    const answers = await network.run(
        last - first, rows(tensorOf(golden, 'planes'), first, last).slice(),
        rows(tensorOf(golden, 'globals'), first, last).slice());
    for (const name of outputs) {
      const expected = rows(tensorOf(golden, name), first, last);
      const got = answers[name];
      expected.forEach((value, i) => {
        // Logits of illegal actions mean nothing.
        if (Number.isNaN(value)) return;
        const gotValue = got?.[i] ?? NaN;
        const error =
            Math.abs(gotValue - value) / Math.max(1, Math.abs(value));
        if (error <= worst) return;
        worst = Number.isNaN(error) ? Infinity : error;
        worstOutput = name;
      });
    }
  }
  const same = sameInputs(core, golden, network.bundle.inputs);
  const tolerance = network.bundle.tolerance;
  return {
    positions: count,
    sameInputs: same,
    worst,
    worstOutput,
    tolerance,
    agrees: same && worst <= tolerance,
  };
}
