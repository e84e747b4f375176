// The worker: an engine that answers the page's messages.

import wasmUrl from '../../.build/wasm/tara_core.wasm.gzip?url';
import { messageOf } from '../error';
import type { SearchRequest } from './api';
import { makeCore } from './core';
import { fetchPacked } from './fetching';
import { LocalEngine } from './host';
import type { Answer, Call } from './messages';

const starting = fetchPacked(wasmUrl).then(makeCore).then(
    (core) => new LocalEngine(core),
    (error) => {
      throw new Error(`the engine does not start: ${messageOf(error)}`);
    });

/** Returns the value of a call. */
async function valueOf(
    { name, args }: Call, port: MessagePort,
    post: (answer: Answer) => void): Promise<unknown> {
  const engine = await starting;
  if (name === 'info') return engine.info;
  if (name !== 'search') {
    return (engine[name] as (...all: unknown[]) => unknown).apply(
        engine, args as unknown[]);
  }
  const search = engine.search(
      args[0] as SearchRequest, (progress) => post({ progress }));
  port.onmessage = () => search.stop();
  return search.result;
}

self.onmessage = async ({ data, ports }: MessageEvent<Call>) => {
  const port = ports[0]!;
  const post = (answer: Answer): void => port.postMessage(answer);
  try {
    post({ value: await valueOf(data, port, post) });
  } catch (error) {
    post({ error: messageOf(error) });
  }
};
