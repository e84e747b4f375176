// What the page and the worker send each other.

import type {
  Engine,
  EngineInfo,
  SearchProgress,
  SearchRequest,
  SearchResult,
} from './api';

/** The calls: those of the Engine that answer once, and the search. */
export type Calls = Omit<Engine, 'info' | 'search' | 'close'> & {
  search(request: SearchRequest): Promise<SearchResult>;
};
export type CallName = keyof Calls;

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName;
      readonly args: readonly unknown[] }
  /** Of the search with this id. */
  | { readonly kind: 'stop'; readonly id: number };

export type FromWorker =
  | { readonly kind: 'ready'; readonly info: EngineInfo }
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  | { readonly kind: 'progress'; readonly id: number;
      readonly progress: SearchProgress };
