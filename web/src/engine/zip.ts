// Zip archives as in docs/reference/bundle.md. fflate unpacks them; their sums
// and sizes are looked at here. Source: PKWARE, "APPNOTE.TXT", version 6.3.10,
// sections 4.3.12, 4.3.16.

import { strFromU8, unzipSync } from 'fflate';

/** Of JSON, which takes many times its size once it is parsed. */
const MAX_JSON_BYTES = 4 * 1024 * 1024;
/** Of other entries, or MAX_GROWTH times the archive: a small file cannot
 * fill the memory. What is large is weights, which hardly deflate. */
const MAX_SMALL_BYTES = 8 * 1024 * 1024;
const MAX_GROWTH = 20;
const MAX_BYTES = 1024 * 1024 * 1024;

const END = 0x06054b50;
const END_BYTES = 22;
const CENTRAL = 0x02014b50;
const CENTRAL_BYTES = 46;

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

/** Returns the CRC of each entry by its name, of the list of entries. */
function sumsOf(archive: Uint8Array): Map<string, number> {
  const view =
      new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  let end = archive.length - END_BYTES; // or before it, with a comment
  while (view.getUint32(end, true) !== END) --end;
  const sums = new Map<string, number>();
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; --left) {
    if (view.getUint32(at, true) !== CENTRAL) {
      throw new Error('its list of entries is damaged');
    }
    const nameAt = at + CENTRAL_BYTES;
    const moreAt = nameAt + view.getUint16(at + 28, true);
    sums.set(
        strFromU8(archive.subarray(nameAt, moreAt)),
        view.getUint32(at + 16, true));
    at = moreAt + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return sums;
}

/** Returns the wanted entries by name. Throws what is wrong with the archive
 * or with one of them: it is damaged, or too large. */
export function readZip(
    archive: Uint8Array, wanted: (name: string) => boolean):
    Record<string, Uint8Array> {
  const sums = sumsOf(archive);
  const entries = unzipSync(archive, {
    filter: ({ name, originalSize: size }) => {
      const most = mostBytes(name, archive);
      if (!wanted(name) || size <= most) return wanted(name);
      throw new Error(`${name} has ${size} bytes; expected at most ${
        most} in this archive`);
    },
  });
  for (const [name, contents] of Object.entries(entries)) {
    if (crc32(contents) === sums.get(name)) continue;
    throw new Error(`${name} is damaged`);
  }
  return entries;
}
