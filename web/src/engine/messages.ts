// What the page and the worker send each other.

import type {
  Engine, SearchProgress, SearchRequest, SearchResult,
} from './api';

/** The calls: those of the Engine that answer once, and the search. */
export type Calls = Omit<Engine, 'info' | 'search' | 'close'> & {
  search(request: SearchRequest): Promise<SearchResult>;
};
export type CallName = keyof Calls;

/** A call; without a name, the search with this id is to stop. */
export interface ToWorker {
  readonly id: number;
  readonly name?: CallName;
  readonly args?: readonly unknown[];
}

/** The start of the worker is call 0, whose value is the EngineInfo. */
export type FromWorker = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: string }
  | { readonly progress: SearchProgress });

export const START = 0;
