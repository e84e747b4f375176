// The page's end of the engine: starts the worker and turns calls into
// messages.

import type {
  Engine, EngineInfo, SearchProgress, SearchRequest, SearchResult,
} from './api';
import { type CallName, type FromWorker, START, type ToWorker } from './messages';
import workerUrl from './worker.ts?worker&url';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

/** Starts an engine of its own worker. Rejected if the browser cannot run it,
 * with the reason. */
export async function createEngine(): Promise<Engine> {
  const worker = new Worker(workerUrl, { type: 'module' });
  const waiting = new Map<number, Waiting>(); // calls under way, by id
  let lastId = START;
  let broken: Error | null = null;

  const answer = (id: number, onProgress?: Waiting['onProgress']) =>
    new Promise<unknown>((resolve, reject) => {
      if (broken !== null) reject(broken);
      else waiting.set(id, { resolve, reject, onProgress });
    });
  const send = (message: ToWorker): void => worker.postMessage(message);
  const call = (
      name: CallName, args: readonly unknown[],
      onProgress?: Waiting['onProgress']): Promise<unknown> => {
    const result = answer(++lastId, onProgress);
    send({ id: lastId, name, args });
    return result;
  };
  /** Rejects all that is under way or yet to come. */
  const breakOff = (error: Error): void => {
    broken = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    const call = waiting.get(data.id);
    if ('progress' in data) {
      call?.onProgress?.(data.progress);
      return;
    }
    waiting.delete(data.id);
    if ('value' in data) call?.resolve(data.value);
    else call?.reject(new Error(data.error));
  };
  // Without a message: the script has not been loaded.
  worker.onerror = ({ message }) => breakOff(new Error(
      message === undefined ?
        `${workerUrl} cannot be loaded` :
        `the engine has failed: ${message}`));

  const own: Pick<Engine, 'info' | 'search' | 'close'> = {
    info: await answer(START) as EngineInfo,
    search(request: SearchRequest = {}, onProgress) {
      const result = call('search', [request], onProgress);
      const id = lastId;
      return {
        result: result as Promise<SearchResult>,
        stop: () => send({ id }),
      };
    },
    close() {
      worker.terminate();
      breakOff(new Error('the engine is closed'));
    },
  };
  // The arguments and results of other calls go through messages as they are.
  return new Proxy(own as Engine, {
    get: (target, name: CallName | keyof typeof own | 'then') =>
      name === 'then' ? undefined : // it must not look like a promise
        name in target ? target[name] :
        (...args: readonly unknown[]) => call(name as CallName, args),
  });
}
