// The service worker of an exported page, which makes it playable without a
// network. plugin.mjs fills in the two constants.
//
// It keeps every file by the hash of its content and serves those of its own
// list alone: a page is of one version, whatever lies on the server meanwhile.
// A new version has another list, so that the browser finds this file changed,
// and begins once no page of the old one is open.

// The files' hashes, as subresource integrity has them, by their names; '' is
// index.html, which some servers have at the folder's address alone.
const FILES = new Map(/* FILES */);
const POLICY = '' /* POLICY */;

const {scope} = self.registration;
const cacheOfSite = () => caches.open(`tara ${scope}`);

const addressOf = (name) => new URL(name, scope).href;
const keyOf = (name) => `${addressOf(name)}?${FILES.get(name)}`;

// The file as the list has it, or an error.
async function fetchExactly(name) {
  // What the browser still has from loading the page will do, if the server
  // says that it is as it was, and if it is.
  for (const cache of ['no-cache', 'reload']) {
    try {
      const response = await fetch(
          addressOf(name), {cache, integrity: FILES.get(name)});
      if (response.ok) return response;
    } catch {
      // Offline, or another version's file.
    }
  }
  throw new Error(`${addressOf(name)} is not what this version has there`);
}

async function keep(name) {
  const response = await fetchExactly(name);
  const type = response.headers.get('Content-Type');
  const kept = new Response(
      response.body, {headers: type === null ? {} : {'Content-Type': type}});
  await (await cacheOfSite()).put(keyOf(name), kept);
}

const kept = async (name) => (await cacheOfSite()).match(keyOf(name));

// Also goes on where it was interrupted, and leaves alone what the last version
// had, too.
async function keepAll() {
  await Promise.all([...FILES.keys()].map(async (name) => {
    if (await kept(name) === undefined) await keep(name);
  }));
}

async function forgetOthers() {
  const keys = new Set([...FILES.keys()].map(keyOf));
  const cache = await cacheOfSite();
  for (const request of await cache.keys()) {
    if (!keys.has(request.url)) await cache.delete(request);
  }
}

async function answer(name, request) {
  let response = await kept(name);
  if (response === undefined) {
    // The browser has thrown it away.
    try {
      await keep(name);
      response = await kept(name);
    } catch {
      return fetch(request);
    }
  }
  // Workers have the policy of their file.
  const headers = new Headers(response.headers);
  headers.set('Content-Security-Policy', POLICY);
  return new Response(response.body, {headers});
}

self.addEventListener('install', (event) => event.waitUntil(keepAll()));
self.addEventListener('activate', (event) => event.waitUntil(forgetOthers()));

self.addEventListener('fetch', (event) => {
  const {method, url} = event.request;
  const address = url.split(/[?#]/)[0];
  if (method !== 'GET' || !address.startsWith(scope)) return;
  const path = address.slice(scope.length);
  const name = path === 'index.html' ? '' : path;
  if (FILES.has(name)) event.respondWith(answer(name, event.request));
});

// A page that is about to begin, and of which no other is open, gives way to the
// version that waits; that the browser then tells it. Others are answered.
self.addEventListener('message', (event) => {
  if (event.data !== 'take over if alone') return;
  event.waitUntil((async () => {
    const all = await self.clients.matchAll(
        {type: 'window', includeUncontrolled: true});
    const pages = all.filter(({url}) => url.startsWith(scope));
    if (pages.length > 1) event.ports[0].postMessage('not alone');
    else await self.skipWaiting();
  })());
});
