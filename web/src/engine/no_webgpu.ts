// In place of webgpu.ts in the page that is exported: without its runtime,
// which is as large as all the rest.

import type { gpuRuntime as fromGpu } from './webgpu';

export async function hasWebGpu(): Promise<boolean> {
  return false;
}

export function gpuRuntime(): ReturnType<typeof fromGpu> {
  throw new Error('this page has no runtime for graphics processors');
}
