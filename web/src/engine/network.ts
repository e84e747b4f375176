// A network in onnxruntime-web: batches of the core in, answers out. Runs by
// WebAssembly, or by WebGPU where that is there and faster.

import type * as Ort from 'onnxruntime-web';
import wasmModuleUrl from
  'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?packed';
import type { NetworkInfo, RuleOptions, VariantInfo } from './api';
import { type Bundle, factsOf, type InputCounts } from './bundle';
import type { Catalogue, NetworkBatch } from './core';
import { notLearned } from './learned';
import { fetchPacked } from './packed';
import { fileId } from './zip';
import { gpuRuntime, hasWebGpu } from './webgpu';

type Backend = NetworkInfo['backend'];

/** Small networks gain nothing from more. */
const MOST_THREADS = 4;
/** Leaves of a batch when the backends are compared. */
const PROBE_BATCH = 8;
const PROBE_RUNS = 2;

async function cpuRuntime() {
  const runtime: typeof Ort = await import('onnxruntime-web/wasm');
  return { runtime, moduleUrl: wasmModuleUrl, wasmUrl };
}

async function loadRuntime(backend: Backend): Promise<typeof Ort> {
  const { runtime, moduleUrl, wasmUrl } =
      await (backend === 'webgpu' ? gpuRuntime() : cpuRuntime());
  const { env } = runtime;
  env.logLevel = 'error';
  env.wasm.wasmPaths = { mjs: moduleUrl };
  env.wasm.wasmBinary = await fetchPacked(wasmUrl);
  // Threads need shared memory, which servers must allow. In Firefox a network
  // with four of them did not always come to its end of loading.
  const cores = Math.floor((navigator.hardwareConcurrency || 1) / 2);
  env.wasm.numThreads =
      crossOriginIsolated && !navigator.userAgent.includes('Firefox')
        ? Math.max(1, Math.min(MOST_THREADS, cores))
        : 1;
  return runtime;
}

const runtimes = new Map<Backend, Promise<typeof Ort>>();

/** Each runtime is loaded once. */
async function runtimeOf(backend: Backend): Promise<typeof Ort> {
  const runtime = runtimes.get(backend) ?? loadRuntime(backend);
  runtimes.set(backend, runtime);
  try {
    return await runtime;
  } catch (error) {
    runtimes.delete(backend); // a server may answer the next time
    throw error;
  }
}

export type Outputs = Readonly<Record<string, Float32Array>>;

/** The first `count` of each row of `size` rows. */
function firstOfRows(
    values: Float32Array, size: number, count: number): Float32Array {
  const row = values.length / size;
  const first = new Float32Array(size * count);
  for (let i = 0; i < size; ++i) {
    first.set(values.subarray(i * row, i * row + count), i * count);
  }
  return first;
}

class Session {
  private constructor(
      readonly backend: Backend, private readonly runtime: typeof Ort,
      private readonly session: Ort.InferenceSession,
      private readonly inputs: InputCounts, private readonly side: number) {}

  static async open(
      backend: Backend, bundle: Bundle,
      catalogue: Catalogue): Promise<Session> {
    const runtime = await runtimeOf(backend);
    const session = await runtime.InferenceSession.create(
        // 3: errors. What it warns of is how the model was written.
        bundle.model, { executionProviders: [backend], logSeverityLevel: 3 });
    delete runtime.env.wasm.wasmBinary; // megabytes, compiled by now
    return new Session(
        backend, runtime, session, bundle.inputs, catalogue.geometry.size);
  }

  /** Values of a position's planes. */
  get planesSize(): number {
    return this.inputs.planes * this.side * this.side;
  }

  /** planes: [B, planes, 7, 7]; globals: [B, globals]; the network's own, or
   * all of the core's. */
  async run(
      size: number, planes: Float32Array,
      globals: Float32Array): Promise<Outputs> {
    const { Tensor } = this.runtime;
    const { inputs, side } = this;
    const results = await this.session.run({
      planes: new Tensor(
          'float32', firstOfRows(planes, size, this.planesSize),
          [size, inputs.planes, side, side]),
      globals: new Tensor(
          'float32', firstOfRows(globals, size, inputs.globals),
          [size, inputs.globals]),
    });
    const outputs: Record<string, Float32Array> = {};
    for (const [name, tensor] of Object.entries(results)) {
      outputs[name] = await tensor.getData() as Float32Array;
      tensor.dispose();
    }
    return outputs;
  }

  /** Milliseconds of a batch, the best of some. */
  async time(): Promise<number> {
    const planes = new Float32Array(PROBE_BATCH * this.planesSize);
    const globals = new Float32Array(PROBE_BATCH * this.inputs.globals);
    let best = Infinity;
    for (let i = 0; i <= PROBE_RUNS; ++i) {
      const start = performance.now();
      await this.run(PROBE_BATCH, planes, globals);
      // The first run prepares what the others use.
      if (i > 0) best = Math.min(best, performance.now() - start);
    }
    return best;
  }

  async close(): Promise<void> {
    await this.session.release();
  }
}

/** The session of the faster backend. */
async function openSession(
    bundle: Bundle, catalogue: Catalogue): Promise<Session> {
  const onCpu = await Session.open('wasm', bundle, catalogue);
  if (!await hasWebGpu()) return onCpu;
  let onGpu: Session;
  try {
    onGpu = await Session.open('webgpu', bundle, catalogue);
    if (await onGpu.time() >= await onCpu.time()) {
      await onGpu.close();
      return onCpu;
    }
  } catch {
    // Drivers that promise more than they do: the other backend is there.
    return onCpu;
  }
  await onCpu.close();
  return onGpu;
}

export class Network {
  readonly info: NetworkInfo;
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
      readonly bundle: Bundle, name: string, bytes: number, rated: boolean,
      private readonly session: Session) {
    this.info = {
      name,
      variants: bundle.manifest.variants,
      rated,
      backend: session.backend,
      file: bundle.file,
      bytes,
      facts: factsOf(bundle.manifest),
      licence: bundle.manifest.license ?? null,
    };
  }

  static async open(
      bundle: Bundle, name: string, bytes: Uint8Array,
      catalogue: Catalogue): Promise<Network> {
    let session: Session;
    try {
      session = await openSession(bundle, catalogue);
    } catch (error) {
      throw new Error(`${bundle.file} cannot be run: ${
          error instanceof Error ? error.message : String(error)}`);
    }
    const rated = fileId(bytes) === catalogue.ratedNetwork;
    return new Network(bundle, name, bytes.length, rated, session);
  }

  /** Whether it was trained on the variant with these rule options. */
  plays(variant: VariantInfo, options: RuleOptions): boolean {
    return notLearned(this.info.variants, variant, options) === '';
  }

  /** Runs one batch after another, whoever asks. */
  run(
      size: number, planes: Float32Array,
      globals: Float32Array): Promise<Outputs> {
    const result =
        this.last.then(() => this.session.run(size, planes, globals));
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Answers a batch of the core. */
  async answer(batch: NetworkBatch): Promise<void> {
    const outputs =
        await this.run(batch.size, batch.planes.slice(), batch.globals.slice());
    const { policy, result, margins, owner } = outputs;
    if (!policy || !result || !margins) {
      throw new Error(`${this.bundle.file} lacks an output`);
    }
    // Read anew: the memory may have moved meanwhile.
    batch.policy.set(policy);
    batch.result.set(result);
    batch.margins.set(margins);
    if (owner) batch.owner.set(owner);
  }

  async close(): Promise<void> {
    await this.last;
    await this.session.close();
  }
}
