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
