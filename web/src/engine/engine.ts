// The page's end of the engine: starts the worker and turns calls into
// messages.

import type {
  Engine, EngineInfo, Search, SearchProgress, SearchRequest,
} from './api';
import type { Answer, Call } from './messages';
import workerUrl from './worker.ts?worker&url';

/** Starts an engine of its own worker. Rejected if the browser cannot run it,
 * with the reason. */
export async function createEngine(): Promise<Engine> {
  const worker = new Worker(workerUrl, { type: 'module' });
  const waiting = new Set<(error: Error) => void>(); // reject calls under way
  let broken: Error | null = null;

  /** Rejects all that is under way or yet to come. */
  const breakOff = (error: Error): void => {
    broken = error;
    for (const reject of waiting) reject(error);
    waiting.clear();
  };
  // Without a message: the script has not been loaded.
  worker.onerror = ({ message }) => breakOff(new Error(
      message === undefined ?
        `${workerUrl} cannot be loaded` :
        `the engine has failed: ${message}`));
  const call = (
      name: Call['name'], args: readonly unknown[] = [],
      onProgress?: (progress: SearchProgress) => void) => {
    const { port1: port, port2 } = new MessageChannel();
    const result = new Promise<unknown>((resolve, reject) => {
      if (broken !== null) return reject(broken);
      waiting.add(reject);
      port.onmessage = ({ data }: MessageEvent<Answer>) => {
        if ('progress' in data) return onProgress?.(data.progress);
        waiting.delete(reject);
        port.close();
        if ('value' in data) resolve(data.value);
        else reject(new Error(data.error));
      };
    });
    worker.postMessage({ name, args } satisfies Call, [port2]);
    return { result, stop: () => port.postMessage(null) };
  };

  const own: Pick<Engine, 'info' | 'search' | 'close'> = {
    info: await call('info').result as EngineInfo,
    search: (request: SearchRequest = {}, onProgress) =>
      call('search', [request], onProgress) as Search,
    close() {
      worker.terminate();
      breakOff(new Error('the engine is closed'));
    },
  };
  // The arguments and results of other calls go through messages as they are.
  return new Proxy(own as Engine, {
    get: (target, name: Call['name'] | 'then') =>
      name === 'then' ? undefined : // it must not look like a promise
        name in target ? target[name] :
        (...args: readonly unknown[]) => call(name, args).result,
  });
}
