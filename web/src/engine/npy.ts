// NumPy files of float32 (format 1.0, C order), as bundles have them.
// Source: NumPy documentation, "numpy.lib.format".

import type { Tensor } from './onnx';

/** The tensor of a file `name`. Throws what is wrong with it. */
export function readNpy(bytes: Uint8Array, name: string): Tensor {
  const fail = (what: string): never => {
    throw new Error(`${name}: ${what}`);
  };
  const magic = String.fromCharCode(...bytes.subarray(1, 6));
  if (bytes.length < 10 || bytes[0] !== 0x93 || magic !== 'NUMPY' ||
      bytes[6] !== 1) {
    fail('expected a NumPy file of format 1.0');
  }
  const headerLength = bytes[8]! + 256 * bytes[9]!;
  const header =
      new TextDecoder().decode(bytes.subarray(10, 10 + headerLength));
  const shapeText = /'shape': \(([\d, ]*)\)/.exec(header)?.[1];
  if (shapeText === undefined || !header.includes("'descr': '<f4'") ||
      !header.includes("'fortran_order': False")) {
    fail(`expected float32 in C order, got ${header.trim()}`);
  }
  const shape =
      shapeText!.split(',').filter((part) => part.trim() !== '').map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  const start = 10 + headerLength;
  if (bytes.length !== start + 4 * count) {
    fail(`expected ${count} numbers, got ${(bytes.length - start) / 4}`);
  }
  // A copy: the data of an archive's entry need not be aligned.
  const values = new Float32Array(bytes.slice(start).buffer);
  return { name: name.replace(/\.npy$/, ''), shape, values };
}
