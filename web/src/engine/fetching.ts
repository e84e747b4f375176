/** Fetches a file. Throws what went wrong. */
export async function fetchFile(url: string | URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new Error(
        `${url} cannot be fetched: the server returned ${response.status}`);
  }
  return response;
}

/** Fetches a file that is packed by gzip and named *.gzip, an ending that no
 * server unpacks itself. Throws as fetchFile. */
export async function fetchPacked(url: string): Promise<ArrayBuffer> {
  const response = await fetchFile(url);
  const unpacked =
      response.body!.pipeThrough(new DecompressionStream('gzip'));
  return new Response(unpacked).arrayBuffer();
}

/** Fetches the model that the page is served with, and the name of its file;
 * null without one. Never rejected: the page plays without, too. */
export async function fetchDefaultModel():
    Promise<{ data: ArrayBuffer; name: string } | null> {
  try {
    const response = await fetch('./model.tara');
    if (response.status !== 200) return null;
    const data = await response.arrayBuffer();
    // Some servers answer with a page where a file is missing. Zip archives
    // begin with PK.
    const [p, k] = new Uint8Array(data);
    if (p !== 0x50 || k !== 0x4b) return null;
    const disposition = response.headers.get('Content-Disposition') ?? '';
    const name = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1];
    return {
      data,
      name: name === undefined ?
        import.meta.env['TARA_MODEL_NAME'] as string :
        decodeURIComponent(name),
    };
  } catch {
    return null;
  }
}
