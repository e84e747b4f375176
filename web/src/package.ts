// The npm package tara-core: the page's engine for other front-ends, in the
// calling thread. web/npm/build.mjs builds it.

import type { Engine, Search, SearchProgress, SearchRequest } from
  './engine/api.js';
import { makeCore } from './engine/core.js';
import { Host } from './engine/host.js';
import { fetchFile } from './engine/fetching.js';

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
  const host = new Host(await makeCore(binary ?? await wasmBinary()));
  let closed = false;
  const checkOpen = (): void => {
    if (closed) throw new Error('the engine is closed');
  };
  const calls = Object.fromEntries(
      Object.entries(host.calls()).map(([name, call]) => [
        name,
        // What is refused is rejected.
        async (...args: readonly unknown[]): Promise<unknown> => {
          checkOpen();
          return (call as (...all: readonly unknown[]) => unknown)(...args);
        },
      ])) as unknown as ReturnType<Host['calls']>;
  return {
    info: host.info(),
    ...calls,
    search(
        request: SearchRequest = {},
        onProgress: (progress: SearchProgress) => void = () => {}): Search {
      let stopped = false;
      const run = async () => {
        checkOpen();
        const result =
            await host.search(request, () => stopped || closed, onProgress);
        checkOpen();
        return result;
      };
      return { result: run(), stop: () => { stopped = true; } };
    },
    close() {
      closed = true;
    },
  };
}
