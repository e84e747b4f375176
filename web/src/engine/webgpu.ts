// The runtime of networks for graphics processors: whether there is one, and
// where its files are.

import type * as Ort from 'onnxruntime-web';
import moduleUrl from
  'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import wasmUrl from
  'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?packed';

/** The little that is asked of WebGPU here. */
interface GpuAdapter {
  readonly isFallbackAdapter?: boolean;
  readonly info?: { readonly isFallbackAdapter?: boolean };
}
interface Gpu {
  requestAdapter(): Promise<GpuAdapter | null>;
}

/** Whether there is a graphics processor; one in software does not count. */
export async function hasWebGpu(): Promise<boolean> {
  const { gpu } = navigator as { readonly gpu?: Gpu };
  try {
    const adapter = await gpu?.requestAdapter() ?? null;
    return adapter !== null && adapter.isFallbackAdapter !== true &&
        adapter.info?.isFallbackAdapter !== true;
  } catch {
    return false;
  }
}

export async function gpuRuntime() {
  const runtime: typeof Ort = await import('onnxruntime-web/webgpu');
  return { runtime, moduleUrl, wasmUrl };
}
