// The worker: an engine that answers the page's messages.

import wasmUrl from '../../.build/wasm/tara_core.wasm.gzip?url';
import { messageOf } from '../error';
import type { Search, SearchRequest } from './api';
import { makeCore } from './core';
import { fetchPacked } from './fetching';
import { LocalEngine } from './host';
import { START, type FromWorker, type ToWorker } from './messages';

const searches = new Map<number, Search>(); // under way, by the id of the call

/** Sends the value of a call, or why it has none. */
async function answer(id: number, call: () => unknown): Promise<void> {
  const post = (message: FromWorker): void => self.postMessage(message);
  try {
    post({ id, value: await call() });
  } catch (error) {
    post({ id, error: messageOf(error) });
  }
  searches.delete(id);
}

void answer(START, async () => {
  const core = await fetchPacked(wasmUrl).then(makeCore).catch((error) => {
    throw new Error(`the engine does not start: ${messageOf(error)}`);
  });
  const engine = new LocalEngine(core);
  self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    const { id, name, args = [] } = data;
    if (name === undefined) {
      searches.get(id)?.stop();
    } else if (name === 'search') {
      const search = engine.search(args[0] as SearchRequest, (progress) =>
        self.postMessage({ id, progress } satisfies FromWorker));
      searches.set(id, search);
      void answer(id, () => search.result);
    } else {
      void answer(id, () =>
        (engine[name] as (...all: readonly unknown[]) => unknown).apply(
          engine, args as unknown[]));
    }
  };
  return engine.info;
});
