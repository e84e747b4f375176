// What the page and the worker send each other.

import type { Engine, SearchProgress } from './api';

export type CallName = Exclude<keyof Engine, 'info' | 'close'>;

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
