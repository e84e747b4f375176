// Whether a network that runs here gives the golden outputs of its bundle.

import type { Verification } from './api';
import type { GoldenPosition } from './bundle';
import type { Catalogue, Core, CoreEvaluation } from './core';
import type { Network } from './network';

/** Values of a plane: 7 by 7. */
const SQUARES = 49;
const INPUTS = ['planes', 'globals'] as const;
/** Of the numbers that golden.json expects: sums in float32, rounded. */
const EXPECTED_TOLERANCE = 1e-5;

interface Output {
  readonly name: 'policy' | 'result' | 'margins' | 'owner';
  /** Numbers of a position. */
  readonly size: number;
}

/** The outputs of the format, whatever the bundle has golden tensors of; that
 * of owners is in networks that have learned them. */
function outputsOf(catalogue: Catalogue, hasOwner: boolean): Output[] {
  const outputs: Output[] = [
    { name: 'policy', size: catalogue.actions.length },
    { name: 'result', size: 3 },
    { name: 'margins', size: 2 * catalogue.maxMargin + 1 },
  ];
  const hills = catalogue.geometry.hills.length;
  if (hasOwner) outputs.push({ name: 'owner', size: 3 * hills });
  return outputs;
}

function fail(what: string): never {
  throw new Error(`the golden part of the bundle ${what}`);
}

/** Throws unless an output's numbers of a position are finite, but for the
 * logits of illegal actions, which are NaN. */
function checkNumbers(
    output: Output, numbers: Float32Array, row: number, legal: number): void {
  const hidden = output.name === 'policy' ? output.size - legal : 0;
  const count = (is: (value: number) => boolean): number =>
      numbers.reduce((sum, value) => sum + (is(value) ? 1 : 0), 0);
  if (numbers.length !== output.size ||
      count(Number.isFinite) !== output.size - hidden ||
      count(Number.isNaN) !== hidden) {
    fail(
        `has '${output.name}' of position ${row} without ` +
        `${output.size - hidden} finite numbers` +
        (hidden > 0 ? ` and ${hidden} NaN, of illegal actions` : ''));
  }
}

/** Whether what is expected of a position is what was read from its golden
 * outputs. Throws if they are not numbers. */
function sameExpected(
    core: Core, { position, expected }: GoldenPosition,
    said: CoreEvaluation, row: number, maxMargin: number): boolean {
  const isRed = core.view(position).side === 0;
  // `scale`: of the terms that are summed up.
  const near = (a: number, b: number, scale = 1): boolean =>
      Math.abs(a - b) <= EXPECTED_TOLERANCE * scale;
  if (![...said.priors, ...said.win, said.draw, said.redMargin].every(
      Number.isFinite)) {
    fail(`has a value that is not a number at position ${row}`);
  }
  return said.priors.length === expected.priors.length &&
      said.priors.every((prior, i) => near(prior, expected.priors[i]!)) &&
      near(said.win[isRed ? 0 : 1], expected.win) &&
      near(said.win[isRed ? 1 : 0], expected.loss) &&
      near(said.draw, expected.draw) &&
      near(isRed ? said.redMargin : -said.redMargin, expected.margin,
           maxMargin);
}

/** For each golden position: are its inputs made here as they were (a network
 * has the first of them), what does the network answer, and does golden.json
 * expect what its golden outputs say? Throws if they are not numbers. */
export function verify(
    core: Core, catalogue: Catalogue, network: Network): Verification {
  const { bundle } = network;
  const golden = bundle.golden();
  const outputs = outputsOf(catalogue, bundle.hasOwner);
  const sizes = {
    planes: bundle.inputs.planes * SQUARES,
    globals: bundle.inputs.globals,
  };
  const same = { sameInputs: true, sameExpected: true };
  let worst = 0;
  let worstOutput: string = outputs[0]!.name;
  golden.positions.forEach((position, row) => {
    const goldenOf = (name: string): Float32Array => {
      const { shape, data } = golden.tensors[name] ?? { shape: [] };
      if (shape[0] !== golden.positions.length) fail(`lacks rows of '${name}'`);
      const size = data!.length / shape[0];
      return data!.subarray(row * size, (row + 1) * size);
    };
    const answer = core.checkPosition(position.position);
    if (answer.error !== undefined) {
      fail(`has no position of this game in row ${row}: ${answer.error}`);
    }
    const judge = new core.Judge(answer.value);
    try {
      const batch = judge.batch();
      same.sameInputs &&= INPUTS.every((name) => {
        const expected = goldenOf(name);
        const made = batch[name];
        return expected.length === sizes[name] &&
            expected.every((value, i) => Object.is(value, made[i]));
      });
      network.core.answerInFloats(batch);
      // Lengths first: rows that are too long would not fit.
      for (const { name, size } of outputs) {
        const numbers = goldenOf(name);
        const made = batch[name];
        if (numbers.length !== size) fail(`has another size of '${name}'`);
        numbers.forEach((value, i) => {
          // Those of illegal actions (checkNumbers).
          if (Number.isNaN(value)) return;
          const difference = Math.abs(made[i]! - value);
          const error = difference / Math.max(1, Math.abs(value));
          if (error <= worst) return;
          worst = Number.isNaN(error) ? Infinity : error;
          worstOutput = name;
        });
        if (name !== 'owner') made.set(numbers);
      }
      const said = judge.read();
      for (const output of outputs) {
        checkNumbers(output, goldenOf(output.name), row, said.priors.length);
      }
      same.sameExpected &&= sameExpected(
          core, { ...position, position: answer.value }, said, row,
          catalogue.maxMargin);
    } finally {
      judge.delete();
    }
  });
  const { tolerance } = bundle;
  return {
    positions: golden.positions.length,
    ...same,
    worst,
    worstOutput,
    tolerance,
    agrees: same.sameInputs && same.sameExpected && worst <= tolerance,
  };
}
