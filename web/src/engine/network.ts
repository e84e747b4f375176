// A network that is loaded: the core's engine with the weights of a bundle.

import { messageOf } from '../error';
import type { NetworkInfo, RuleOptions, VariantInfo } from './api';
import { type Bundle, factsOf } from './bundle';
import {
  type Catalogue, type Core, type CoreNetwork, type CoreSearch,
  type NetworkBatch, valueOf,
} from './core';
import { notLearned } from './learned';
import { readWeights } from './onnx';
import { fileId } from './zip';

// An exported page has its network repacked (vite.config.mjs): by its id there,
// that of the file with the same weights.
const SOURCES = import.meta.env['TARA_SOURCES'] as
    Readonly<Record<string, string>> | undefined;

export class Network {
  readonly info: NetworkInfo;

  private constructor(
      readonly bundle: Bundle, name: string, bytes: number, rated: boolean,
      private readonly network: CoreNetwork) {
    this.info = {
      name,
      variants: bundle.manifest.variants,
      rated,
      file: bundle.file,
      bytes,
      facts: factsOf(bundle.manifest),
      licence: bundle.manifest.license ?? null,
    };
  }

  static open(
      bundle: Bundle, name: string, bytes: Uint8Array, core: Core,
      catalogue: Catalogue): Network {
    const { kind, channels, blocks } = bundle.shape;
    let network: CoreNetwork;
    try {
      const tensors = [...readWeights(bundle.model), ...bundle.ranges];
      network = valueOf(
          core.openNetwork(kind, channels, blocks, tensors, false));
    } catch (error) {
      throw new Error(`${bundle.file} cannot be run: ${messageOf(error)}`);
    }
    const id = fileId(bytes);
    const rated = (SOURCES?.[id] ?? id) === catalogue.ratedNetwork;
    return new Network(bundle, name, bytes.length, rated, network);
  }

  /** Whether it was trained on the variant with these rule options. */
  plays(variant: VariantInfo, options: RuleOptions): boolean {
    return notLearned(this.info.variants, variant, options) === '';
  }

  /** A step of a search. */
  advance(search: CoreSearch, leaves: number): void {
    search.run(this.network, leaves);
  }

  /** Fills all outputs of a batch, in float32. */
  answerInFloats(batch: NetworkBatch): void {
    this.network.answerInFloats(batch);
  }

  close(): void {
    this.network.delete();
  }
}
