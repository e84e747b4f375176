// What the page and the worker send each other; each call has its own port.

import type { Engine, SearchProgress } from './api';

/** To the worker, with the port. What is sent by the port ends a search. */
export interface Call {
  readonly name: Exclude<keyof Engine, 'close'>;
  readonly args: readonly unknown[];
}

/** By the port, from the worker. */
export type Answer =
  | { readonly value: unknown }
  | { readonly error: string }
  | { readonly progress: SearchProgress };
