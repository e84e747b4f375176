// The worker: an engine that answers the page's messages.

import wasmUrl from '../../.build/wasm/tara_core.wasm?packed';
import type { SearchRequest } from './api';
import { makeCore } from './core';
import { Host } from './host';
import type { FromWorker, ToWorker } from './messages';
import { fetchPacked } from './packed';

function post(message: FromWorker): void {
  self.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The ids of searches that are to stop. */
const stopped = new Set<number>();

async function answer(host: Host, message: ToWorker): Promise<void> {
  const { id } = message;
  if (message.kind === 'stop') {
    stopped.add(id);
    return;
  }
  const { name, args } = message;
  try {
    if (name === 'search') {
      const value = await host.search(
          args[0] as SearchRequest, () => stopped.has(id),
          (progress) => post({ kind: 'progress', id, progress }));
      post({ kind: 'result', id, value });
      return;
    }
    const call =
        host.calls()[name] as (...args: readonly unknown[]) => Promise<unknown>;
    post({ kind: 'result', id, value: await call(...args) });
  } catch (error) {
    post({ kind: 'error', id, message: messageOf(error) });
  } finally {
    stopped.delete(id);
  }
}

async function main(): Promise<void> {
  try {
    const core = await makeCore(await fetchPacked(wasmUrl));
    const host = new Host(core);
    self.onmessage = (event: MessageEvent<ToWorker>) =>
      void answer(host, event.data);
    post({ kind: 'ready', info: host.info() });
  } catch (error) {
    post({ kind: 'broken', message: messageOf(error) });
  }
}

void main();
