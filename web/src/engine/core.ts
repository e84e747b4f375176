// The WebAssembly module of web/wasm: its types, and how it is made.

import createModule from '../../.build/wasm/tara_core.mjs';
import type {
  Action, EngineInfo, Evaluation, Position, RatedGame, Rating, SearchedAction,
  SearchProgress,
} from './api';
import type { Tensor } from './onnx';

/** web/wasm/views.cc. */
export interface Catalogue extends EngineInfo {
  /** All 570, by index. */
  readonly actions: readonly Action[];
  /** The fileId of the bundle that the levels' Elo was measured with. */
  readonly ratedNetwork: string;
  readonly maxMargin: number;
  readonly planes: number;
  readonly globals: number;
}

/** A position; as in api.ts, but with the indices of legal actions. */
export type PositionView =
    Omit<Position, 'legal'> & { readonly legal: readonly number[] };

/** What comes from outside is refused with a text. */
export type Answer<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: string };

/** In the order of the legal actions; margins from -maxMargin on. */
export interface CoreEvaluation
    extends Pick<Evaluation, 'win' | 'draw' | 'redMargin' | 'owners'> {
  readonly priors: readonly number[];
  readonly redMargins: readonly number[];
}

/** web/wasm/network.h. */
export interface CoreNetwork {
  delete(): void;
}

/** As in api.ts, but with indices of actions. */
export type CoreSearchedAction = Omit<SearchedAction, 'action' | 'line'> &
    { readonly action: number; readonly line: readonly number[] };
export interface CoreSearchReport
    extends Pick<SearchProgress, 'simulations' | 'redValue' | 'redMargin'> {
  readonly actions: readonly CoreSearchedAction[];
  readonly principalVariation: readonly number[];
}

/** web/wasm/search.h. */
export interface CoreSearch {
  done(): boolean;
  /** A step: at most so many leaves. Null: random games. */
  run(network: CoreNetwork | null, most: number): void;
  report(): CoreSearchReport;
  /** At temperature 0 as the level does. */
  choose(temperature: number, seed: number): number;
  delete(): void;
}

/** web/wasm/bindings.cc. Positions are texts that the module itself wrote. */
export interface Core {
  /** What never changes. */
  readonly known: Catalogue;
  initialPosition(variant: string, options: string): Answer<string>;
  checkPosition(text: string): Answer<string>;
  completePosition(text: string): Answer<string>;
  picture(position: string, lastAction: number): string;
  view(position: string): PositionView;
  play(
      position: string,
      notation: string): Answer<{ action: number; text: string }>;
  whyNot(position: string, hill: number, chosen: number): string;
  /** Null: random games, which have no owners. A network may not have learned
   * those that it names. */
  judge(position: string, network: CoreNetwork | null): CoreEvaluation;
  /** How many leaves of a search are judged together, at most. */
  leavesTogether(simulations: number): number;
  rateByResults(variant: string, games: readonly RatedGame[]): Rating;
  openNetwork(
      kind: string, channels: number, blocks: number,
      tensors: readonly Tensor[], plain: boolean): Answer<CoreNetwork>;
  readonly Search: new (
      position: string, simulations: number, network: boolean,
      level: number, seed: number) => CoreSearch;
}

/** `wasmBinary` is tara_core.wasm. */
export async function makeCore(
    wasmBinary: ArrayBuffer | Uint8Array): Promise<Core> {
  const core = await createModule({ wasmBinary }) as
      Omit<Core, 'known'> & { catalogue(): Catalogue };
  return Object.assign(core, { known: core.catalogue() });
}

/** Returns the value, or throws the text. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.value;
}
