// The page's end of the engine: starts the worker and turns calls into
// messages.

import type {
  Engine,
  EngineInfo,
  Search,
  SearchProgress,
  SearchRequest,
  SearchResult,
} from './api';
import type { CallName, Calls, FromWorker, ToWorker } from './messages';
import workerUrl from './worker.ts?worker&url';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

/** Calls under way, by id. */
class Client {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private broken: Error | null = null;

  constructor(private readonly worker: Worker) {}

  /** Sends a call; `onProgress` is for searches. */
  call(
      name: CallName, args: readonly unknown[],
      onProgress?: (progress: SearchProgress) => void):
      { id: number; result: Promise<unknown> } {
    const id = this.nextId++;
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.broken !== null) {
        reject(this.broken);
        return;
      }
      this.waiting.set(id, { resolve, reject, onProgress });
      this.send({ kind: 'call', id, name, args });
    });
    return { id, result };
  }

  send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  receive(message: FromWorker): void {
    if (message.kind === 'ready' || message.kind === 'broken') return;
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'progress') {
      waiting.onProgress?.(message.progress);
      return;
    }
    this.waiting.delete(message.id);
    if (message.kind === 'result') {
      waiting.resolve(message.value);
    } else {
      waiting.reject(new Error(message.message));
    }
  }

  /** Rejects all that is under way or yet to come. */
  breakOff(error: Error): void {
    this.broken = error;
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

function engineOf(worker: Worker, client: Client, info: EngineInfo): Engine {
  // The arguments and results of a call go through messages as they are.
  const calling = <Name extends CallName>(name: Name): Calls[Name] =>
    ((...args: readonly unknown[]) => client.call(name, args).result) as
        unknown as Calls[Name];
  return {
    info,
    newGame: calling('newGame'),
    game: calling('game'),
    play: calling('play'),
    undo: calling('undo'),
    goTo: calling('goTo'),
    positionAt: calling('positionAt'),
    positionAfter: calling('positionAfter'),
    saveGame: calling('saveGame'),
    loadGame: calling('loadGame'),
    completePosition: calling('completePosition'),
    positionOf: calling('positionOf'),
    picture: calling('picture'),
    loadNetwork: calling('loadNetwork'),
    unloadNetwork: calling('unloadNetwork'),
    network: calling('network'),
    rate: calling('rate'),
    verifyNetwork: calling('verifyNetwork'),
    evaluate: calling('evaluate'),
    search(
        request: SearchRequest = {},
        onProgress?: (progress: SearchProgress) => void): Search {
      const { id, result } = client.call('search', [request], onProgress);
      return {
        result: result as Promise<SearchResult>,
        stop: () => client.send({ kind: 'stop', id }),
      };
    },
    close() {
      worker.terminate();
      client.breakOff(new Error('the engine is closed'));
    },
  };
}

/** Starts an engine of its own worker. Rejected if the browser cannot run it,
 * with the reason. */
export function createEngine(): Promise<Engine> {
  const worker = new Worker(workerUrl, { type: 'module' });
  const client = new Client(worker);
  return new Promise((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<FromWorker>) => {
      const message = event.data;
      if (message.kind === 'ready') {
        resolve(engineOf(worker, client, message.info));
      } else if (message.kind === 'broken') {
        reject(new Error(`the engine does not start: ${message.message}`));
      } else {
        client.receive(message);
      }
    };
    worker.onerror = (event) => {
      // Without a message: the script has not been loaded.
      const error = new Error(
          event.message === undefined ?
            `${workerUrl} cannot be loaded` :
            `the engine has failed: ${event.message}`);
      reject(error);
      client.breakOff(error);
    };
  });
}
