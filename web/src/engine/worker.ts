// The worker: an engine that answers the page's messages.

import wasmUrl from '../../.build/wasm/tara_core.wasm.gzip?url';
import { messageOf } from '../error';
import type { SearchRequest } from './api';
import { makeCore } from './core';
import { Host } from './host';
import { START, type FromWorker, type ToWorker } from './messages';
import { fetchPacked } from './fetching';

function post(message: FromWorker): void {
  self.postMessage(message);
}

/** The ids of searches that are to stop. */
const stopped = new Set<number>();

async function answer(host: Host, message: ToWorker): Promise<void> {
  const { id, name, args = [] } = message;
  if (name === undefined) {
    stopped.add(id);
    return;
  }
  try {
    const call = name === 'search' ?
      () => host.search(
          args[0] as SearchRequest, () => stopped.has(id),
          (progress) => post({ id, progress })) :
      host.calls()[name] as (...args: readonly unknown[]) => Promise<unknown>;
    post({ id, value: await call(...args) });
  } catch (error) {
    post({ id, error: messageOf(error) });
  } finally {
    stopped.delete(id);
  }
}

async function main(): Promise<void> {
  try {
    const host = new Host(await makeCore(await fetchPacked(wasmUrl)));
    self.onmessage = (event: MessageEvent<ToWorker>) =>
      void answer(host, event.data);
    post({ id: START, value: host.info() });
  } catch (error) {
    const reason = messageOf(error);
    post({ id: START, error: `the engine does not start: ${reason}` });
  }
}

void main();
