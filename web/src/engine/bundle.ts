// Model bundles (docs/reference/bundle.md): the parts that the engine needs,
// and the check that a bundle fits this engine.

import { strFromU8 } from 'fflate';
import { messageOf } from '../error';
import type { LearnedVariant } from './api';
import type { Catalogue } from './core';
import { readNpy } from './npy';
import type { Tensor } from './onnx';
import { readZip } from './zip';

const FORMAT = 'tara-bundle';
const FORMAT_VERSION = 3;
const KINDS = ['tower', 'light'];
/** Of a light network: NumPy files of the ranges of its activations, which are
 * tensors of the name without the ending. */
const RANGES = /^calibration\/.*\.npy$/;

/** The fields of manifest.json that are read. */
export interface Manifest {
  readonly format: string;
  readonly format_version: number;
  readonly made_by?: string;
  readonly versions: Readonly<Record<string, number>>;
  readonly network?: Readonly<Record<string, unknown>>;
  readonly variants: readonly LearnedVariant[];
  readonly inputs: readonly {
    readonly name: string;
    readonly shape: readonly (string | number)[];
  }[];
  readonly outputs: readonly { readonly name: string }[];
  readonly forms: readonly {
    readonly name: string;
    readonly file: string;
    readonly tolerance: number;
  }[];
  readonly golden?: { readonly file: string };
  readonly license?: string;
  readonly provenance?: Readonly<Record<string, unknown>>;
}

/** A position of golden.json, and what the network said of it when it was
 * exported, from the view of the side to move. */
export interface GoldenPosition {
  readonly position: string;
  readonly expected: {
    readonly priors: readonly number[];
    readonly win: number;
    readonly draw: number;
    readonly loss: number;
    readonly margin: number;
  };
}

export interface Bundle {
  readonly manifest: Manifest;
  /** Of the network. */
  readonly shape: {
    readonly kind: string;
    readonly channels: number;
    readonly blocks: number;
  };
  readonly ranges: readonly Tensor[];
  /** The ONNX file that has the weights, and its name. */
  readonly model: Uint8Array;
  readonly file: string;
  readonly hasOwner: boolean;
  readonly tolerance: number;
  /** Reads them. Throws if they are missing or damaged. */
  readonly golden: () => readonly GoldenPosition[];
}

function fail(what: string): never {
  throw new Error(`not a usable model bundle: ${what}`);
}

function readEntries(
    data: Uint8Array, wanted: (name: string) => boolean):
    Record<string, Uint8Array> {
  try {
    return readZip(data, wanted);
  } catch (error) {
    // RangeError: an offset of the archive leads beyond its end.
    const why =
        error instanceof RangeError ? 'it ends too soon' : messageOf(error);
    fail(`it is damaged, or not a zip archive (${why})`);
  }
}

function readJson(data: Uint8Array | undefined, name: string): unknown {
  if (data === undefined) fail(`${name} is missing`);
  try {
    return JSON.parse(strFromU8(data));
  } catch {
    fail(`${name} is not JSON`);
  }
}

function checkShape(manifest: Manifest): void {
  const isThere = typeof manifest === 'object' && manifest !== null;
  if (!isThere || manifest.format !== FORMAT) {
    fail(`manifest.json does not have "format": "${FORMAT}"`);
  }
  // Version 1 has files that are not read here; version 3 is of light networks.
  if (![1, 2, FORMAT_VERSION].includes(manifest.format_version)) {
    fail(
        `it has format version ${manifest.format_version}; this page reads ` +
        `versions 1 to ${FORMAT_VERSION}`);
  }
  for (const name of ['variants', 'inputs', 'outputs', 'forms'] as const) {
    if (Array.isArray(manifest[name])) continue;
    fail(`manifest.json has no list '${name}'`);
  }
  if (typeof manifest.versions !== 'object' || manifest.versions === null) {
    fail("manifest.json has no 'versions'");
  }
}

/** Throws what differs between the bundle and this engine. */
function checkVersions(manifest: Manifest, catalogue: Catalogue): void {
  const own: Record<string, number> = {
    features: catalogue.featureVersion,
    policy: catalogue.policyVersion,
    values: catalogue.valueVersion,
    rules: catalogue.rulesVersion,
  };
  const differences = Object.entries(own)
      .filter(([name, version]) => manifest.versions[name] !== version)
      .map(([name, version]) =>
        `version ${manifest.versions[name] ?? 'unknown'} of the ${name}, ` +
        `where this page has version ${version}`);
  if (differences.length > 0) fail(`it has ${differences.join('; ')}`);
}

/** Throws unless the network has the first of this engine's inputs. */
function checkInputs(manifest: Manifest, catalogue: Catalogue): void {
  for (const name of ['planes', 'globals'] as const) {
    const count = Number(
        manifest.inputs.find((input) => input.name === name)?.shape?.[1]);
    if (!Number.isInteger(count) || count < 1) {
      fail(`manifest.json lacks the number of '${name}'`);
    }
    const known = catalogue[name];
    if (count <= known) continue;
    fail(`it has ${count} ${name}; this page has the first ${known} of them`);
  }
}

/** Returns the number of channels or of blocks that the network has. */
function sizeOf(manifest: Manifest, name: 'channels' | 'blocks'): number {
  const size = Number(manifest.network?.[name]);
  const most = { channels: 1024, blocks: 100 }[name];
  if (Number.isInteger(size) && size >= 1 && size <= most) return size;
  fail(`manifest.json has ${manifest.network?.[name]} ${name}; expected 1 to ${
    most}`);
}

/** Returns the kind of the network. */
function kindOf(manifest: Manifest): string {
  const kind = manifest.network?.['kind'] ?? 'tower';
  if (typeof kind === 'string' && KINDS.includes(kind)) return kind;
  fail(`it has a network of kind ${String(kind)}; this page has the kinds ${
    KINDS.join(' and ')}`);
}

/** Reads a bundle. Throws what is wrong with it. */
export function readBundle(data: Uint8Array, catalogue: Catalogue): Bundle {
  const first = readEntries(data, (name) => name === 'manifest.json');
  const manifest =
      readJson(first['manifest.json'], 'manifest.json') as Manifest;
  checkShape(manifest);
  checkVersions(manifest, catalogue);
  checkInputs(manifest, catalogue);
  // The exact form before the smaller one: once loaded they cost the same.
  const form = ['onnx', 'onnx_float16']
      .map((name) => manifest.forms.find((each) => each.name === name))
      .find((each) => each !== undefined);
  if (form === undefined) fail('it has no ONNX form');
  const files = readEntries(
      data, (name) => name === form.file || RANGES.test(name));
  const model = files[form.file];
  if (model === undefined) fail(`${form.file} is missing`);
  return {
    manifest,
    ranges: Object.keys(files).filter((name) => RANGES.test(name))
        .map((name) => readNpy(files[name]!, name)),
    shape: {
      kind: kindOf(manifest),
      channels: sizeOf(manifest, 'channels'),
      blocks: sizeOf(manifest, 'blocks'),
    },
    model,
    file: form.file,
    hasOwner: manifest.outputs.some((output) => output.name === 'owner'),
    tolerance: form.tolerance,
    golden: () => readGolden(data, manifest.golden?.file),
  };
}

function readGolden(
    data: Uint8Array, name = 'golden.json'): readonly GoldenPosition[] {
  const files = readEntries(data, (each) => each === name);
  const { positions } =
      readJson(files[name], name) as { positions?: readonly GoldenPosition[] };
  const isWhole = ({ position, expected }: GoldenPosition): boolean =>
      typeof position === 'string' && Array.isArray(expected?.priors);
  if (!Array.isArray(positions) || positions.length === 0 ||
      !positions.every(isWhole)) {
    fail(`${name} has no golden positions`);
  }
  return positions;
}

/** The bundle's description, for people. */
export function factsOf(manifest: Manifest): { name: string; value: string }[] {
  const facts: { name: string; value: string }[] = [];
  for (const part of [manifest.network, manifest.provenance]) {
    for (const [name, value] of Object.entries(part ?? {})) {
      // The config is long, and lists are tables.
      if (name === 'config' || typeof value === 'object') continue;
      facts.push({ name: name.replaceAll('_', ' '), value: String(value) });
    }
  }
  if (manifest.made_by !== undefined) {
    facts.push({ name: 'made by', value: manifest.made_by });
  }
  return facts;
}
