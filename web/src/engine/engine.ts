// The page's end of the engine: starts the worker and turns calls into
// messages.

import type {
  Engine, EngineInfo, Search, SearchProgress, SearchRequest, SearchResult,
} from './api';
import { type CallName, type FromWorker, START, type ToWorker } from './messages';
import workerUrl from './worker.ts?worker&url';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

/** Calls under way, by id. */
class Client {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = START + 1;
  private broken: Error | null = null;

  constructor(private readonly worker: Worker) {
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) =>
      this.receive(data);
    // Without a message: the script has not been loaded.
    worker.onerror = ({ message }) => this.breakOff(new Error(
        message === undefined ?
          `${workerUrl} cannot be loaded` :
          `the engine has failed: ${message}`));
  }

  /** Returns the answer to a call. */
  answer(id: number, onProgress?: Waiting['onProgress']): Promise<unknown> {
    if (this.broken !== null) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onProgress });
    });
  }

  /** Sends a call; `onProgress` is for searches. */
  call(
      name: CallName, args: readonly unknown[],
      onProgress?: Waiting['onProgress']):
      { id: number; result: Promise<unknown> } {
    const id = this.nextId++;
    const result = this.answer(id, onProgress);
    this.send({ id, name, args });
    return { id, result };
  }

  send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private receive(message: FromWorker): void {
    const waiting = this.waiting.get(message.id);
    if ('progress' in message) {
      waiting?.onProgress?.(message.progress);
      return;
    }
    this.waiting.delete(message.id);
    if ('value' in message) waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.error));
  }

  /** Rejects all that is under way or yet to come. */
  breakOff(error: Error): void {
    this.broken = error;
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

/** Starts an engine of its own worker. Rejected if the browser cannot run it,
 * with the reason. */
export async function createEngine(): Promise<Engine> {
  const worker = new Worker(workerUrl, { type: 'module' });
  const client = new Client(worker);
  const own = {
    info: await client.answer(START) as EngineInfo,
    search(
        request: SearchRequest = {},
        onProgress?: (progress: SearchProgress) => void): Search {
      const { id, result } = client.call('search', [request], onProgress);
      return {
        result: result as Promise<SearchResult>,
        stop: () => client.send({ id }),
      };
    },
    close() {
      worker.terminate();
      client.breakOff(new Error('the engine is closed'));
    },
  };
  // The arguments and results of other calls go through messages as they are.
  return new Proxy(own as unknown as Engine, {
    get: (target, name: CallName | keyof typeof own | 'then') =>
      name === 'then' ? undefined : // it must not look like a promise
        name in target ? target[name] :
        (...args: readonly unknown[]) =>
          client.call(name as CallName, args).result,
  });
}
