// Zip archives as in docs/reference/bundle.md: deflated or stored entries,
// without encryption or zip64. Source: PKWARE, "APPNOTE.TXT", version 6.3.10,
// sections 4.3.7, 4.3.12, 4.3.16.

import { inflateSync, strFromU8 } from 'fflate';

/** Of JSON, which takes many times its size once it is parsed. */
const MAX_JSON_BYTES = 4 * 1024 * 1024;
/** Of other entries, or MAX_GROWTH times the archive: a small file cannot
 * fill the memory. What is large is weights, which hardly deflate. */
const MAX_SMALL_BYTES = 8 * 1024 * 1024;
const MAX_GROWTH = 20;
const MAX_BYTES = 1024 * 1024 * 1024;

const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const CENTRAL = 0x02014b50;
const CENTRAL_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/** Returns a CRC of 32 bits, by its polynomial, reflected. */
function crcBy(polynomial: number): (data: Uint8Array) => number {
  const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; ++bit) {
      crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
    }
    return crc;
  });
  return (data) => {
    let crc = 0xffffffff;
    for (const byte of data) {
      crc = (crc >>> 8) ^ remainders[(crc ^ byte) & 0xff]!;
    }
    return (crc ^ 0xffffffff) >>> 0;
  };
}

/** That of zip files, and CRC-32C. */
const crc32 = crcBy(0xedb88320);
const crc32c = crcBy(0x82f63b78);

/** Returns what nn::NetworkFileId (tara/nn) calls a file. */
export function fileId(data: Uint8Array): string {
  return `${crc32c(data).toString(16).padStart(8, '0')}-${data.length}`;
}

function mostBytes(name: string, archive: Uint8Array): number {
  return name.endsWith('.json') ?
    MAX_JSON_BYTES :
    Math.min(
        MAX_BYTES, Math.max(MAX_SMALL_BYTES, MAX_GROWTH * archive.length));
}

function findEnd(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); --at) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new Error('it has no list of entries');
}

/** Returns the contents of the entry whose central header is at `at`. */
function readEntry(
    archive: Uint8Array, view: DataView, at: number,
    name: string): Uint8Array {
  const method = view.getUint16(at + 10, true);
  const crc = view.getUint32(at + 16, true);
  const packedSize = view.getUint32(at + 20, true);
  const size = view.getUint32(at + 24, true);
  const local = view.getUint32(at + 42, true);
  const most = mostBytes(name, archive);
  if (size > most) {
    throw new Error(
        `${name} has ${size} bytes; expected at most ${most} in this archive`);
  }
  if (view.getUint32(local, true) !== LOCAL) {
    throw new Error(`${name} is not where the list of entries has it`);
  }
  const start = local + LOCAL_BYTES + view.getUint16(local + 26, true) +
      view.getUint16(local + 28, true);
  const packed = archive.subarray(start, start + packedSize);
  if (method !== STORED && method !== DEFLATED) {
    throw new Error(`${name} is packed by method ${method}; expected deflate`);
  }
  // One byte more than it should have, to see if it has more.
  const contents = method === STORED ?
    packed :
    inflateSync(packed, { out: new Uint8Array(size + 1) });
  if (contents.length !== size || crc32(contents) !== crc) {
    throw new Error(`${name} is damaged`);
  }
  return contents;
}

/** Returns the wanted entries by name. Throws what is wrong with the archive
 * or with one of them: it is damaged, or too large. */
export function readZip(
    archive: Uint8Array, wanted: (name: string) => boolean):
    Record<string, Uint8Array> {
  const view =
      new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const entries: Record<string, Uint8Array> = {};
  for (let i = 0; i < count; ++i) {
    if (view.getUint32(at, true) !== CENTRAL) {
      throw new Error('its list of entries is damaged');
    }
    const nameSize = view.getUint16(at + 28, true);
    const nameAt = at + CENTRAL_BYTES;
    const name = strFromU8(archive.subarray(nameAt, nameAt + nameSize));
    if (wanted(name)) entries[name] = readEntry(archive, view, at, name);
    at = nameAt + nameSize + view.getUint16(at + 30, true) +
        view.getUint16(at + 32, true);
  }
  return entries;
}
