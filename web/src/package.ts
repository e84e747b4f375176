// The npm package tara-core: the page's engine for other front-ends, in the
// calling thread. web/npm/build.mjs builds it.

import type { Engine } from './engine/api.js';
import { makeCore } from './engine/core.js';
import { fetchFile } from './engine/fetching.js';
import { LocalEngine } from './engine/host.js';

export type * from './engine/api.js';

type Binary = ArrayBuffer | Uint8Array;

async function wasmBinary(): Promise<Binary> {
  const url = new URL('./tara_core.wasm', import.meta.url);
  if (url.protocol === 'file:') {
    const files = 'node:fs/promises'; // bundlers for browsers need not find it
    const { readFile } = await import(/* @vite-ignore */ files);
    return readFile(url);
  }
  return (await fetchFile(url)).arrayBuffer();
}

/** Starts an engine in this thread. Searches let others in every 12 ms, so that
 * a page goes on to answer; to leave it the whole processor, call this in a
 * worker. `binary` is tara_core.wasm, by default the one next to this module;
 * rejected if that cannot be read. */
export async function createEngine(binary?: Binary): Promise<Engine> {
  return new LocalEngine(await makeCore(binary ?? await wasmBinary()));
}
