// A network that is loaded: the core's engine with the weights of a bundle.

import { messageOf } from '../error';
import type { NetworkInfo } from './api';
import { type Bundle, factsOf, readBundle } from './bundle';
import { type Core, type CoreNetwork, valueOf } from './core';
import { readWeights } from './onnx';
import { fileId } from './zip';

// An exported page has its network repacked (vite.config.mjs): by its id there,
// that of the file with the same weights.
const SOURCES = import.meta.env['TARA_SOURCES'] as
    Readonly<Record<string, string>> | undefined;

export interface Network {
  readonly info: NetworkInfo;
  readonly bundle: Bundle;
  readonly core: CoreNetwork; // to be deleted once it is not used any more
}

/** Opens the network of a bundle, which is of these bytes. Throws what is wrong
 * with it. */
export function openNetwork(
    bytes: Uint8Array, name: string, core: Core): Network {
  const bundle = readBundle(bytes, core.known);
  const { manifest, file, model, ranges } = bundle;
  const { kind, channels, blocks } = bundle.shape;
  const id = fileId(bytes);
  const info = {
    name,
    variants: manifest.variants,
    rated: (SOURCES?.[id] ?? id) === core.known.ratedNetwork,
    file,
    bytes: bytes.length,
    facts: factsOf(manifest),
    licence: manifest.license ?? null,
  };
  try {
    const tensors = [...readWeights(model), ...ranges];
    const network =
        valueOf(core.openNetwork(kind, channels, blocks, tensors, false));
    return { info, bundle, core: network };
  } catch (error) {
    throw new Error(`${file} cannot be run: ${messageOf(error)}`);
  }
}
