// The weights in an ONNX file: a message of Protocol Buffers,
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

import Pbf from 'pbf';

export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

// The numbers of the fields that are read.
const GRAPH = 7; // of ModelProto
const INITIALIZER = 5; // of GraphProto
const DIMS = 1; // of TensorProto, as the next ones
const DATA_TYPE = 2;
const NAME = 8;
const RAW_DATA = 9;

const FLOAT = 1;
const FLOAT16 = 10;

/** The number that the bits of a float16 stand for. */
function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** A tensor as it is in the file. */
interface Raw {
  name: string;
  shape: number[];
  type: number;
  bytes: Uint8Array;
}

function readTensor(message: Pbf): Raw {
  const tensor: Raw = { name: '', shape: [], type: 0, bytes: new Uint8Array() };
  return message.readMessage((tag, read, field) => {
    if (tag === DIMS) field.readPackedVarint(read.shape);
    else if (tag === DATA_TYPE) read.type = field.readVarint();
    else if (tag === NAME) read.name = field.readString();
    else if (tag === RAW_DATA) read.bytes = field.readBytes();
  }, tensor);
}

function readTensors(model: Uint8Array): Raw[] {
  try {
    return new Pbf(model).readFields<Raw[]>((tag, tensors, file) => {
      if (tag !== GRAPH) return;
      file.readMessage((inner, _, graph) => {
        if (inner === INITIALIZER) tensors.push(readTensor(graph));
      }, tensors);
    }, []);
  } catch {
    throw new Error('it is not an ONNX model');
  }
}

function toTensor({ name, shape, type, bytes }: Raw): Tensor {
  const width = type === FLOAT ? 4 : 2;
  const count = shape.reduce((product, size) => product * size, 1);
  if (bytes.length !== count * width) {
    throw new Error(`tensor ${name} has ${bytes.length} bytes; its shape [${
      shape.join(', ')}] takes ${count * width}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const values = Float32Array.from(
      { length: count },
      (_, i) => type === FLOAT ? view.getFloat32(4 * i, true) :
        fromFloat16(view.getUint16(2 * i, true)));
  return { name, shape, values };
}

/** Returns the weights of a model: its constants of floats. Throws what is wrong
 * with it. */
export function readWeights(model: Uint8Array): Tensor[] {
  return readTensors(model)
      .filter(({ type }) => type === FLOAT || type === FLOAT16)
      .map(toTensor);
}
