// An exported page (vite build --mode site) has a service worker, which keeps
// its files for visits without a network (web/site/service_worker.js).

const PATIENCE_MS = 3000;

function workers(): ServiceWorkerContainer | undefined {
  return navigator.serviceWorker as
    | ServiceWorkerContainer // some browsers have none in private windows
    | undefined;
}

/** Lets a new version take over that has come since the last visit, if no other
 * page of the old one is open: this page is then reloaded. To be awaited before
 * it begins. */
export async function giveWay(): Promise<void> {
  const container = workers();
  if (container === undefined || container.controller === null) return;
  container.addEventListener('controllerchange', () => location.reload());
  try {
    const registration = await container.getRegistration();
    const next = registration?.waiting;
    if (next === null || next === undefined) return;
    const { port1, port2 } = new MessageChannel();
    next.postMessage('take over if alone', [port2]);
    await new Promise((resolve) => {
      port1.onmessage = resolve; // it does not
      setTimeout(resolve, PATIENCE_MS);
    });
  } catch {
    // The page begins as it is.
  }
}

/** Keeps the page for visits without a network: at the first visit once it has
 * `begun`, so that it waits for nothing else. `tell` shows a sentence. Where a
 * browser refuses, or has no room, the page plays from its server. */
export async function keepOffline(
  begun: Promise<unknown>,
  tell: (sentence: string) => void,
): Promise<void> {
  const container = workers();
  if (container === undefined) return;
  const again = container.controller !== null;
  if (!again) await begun;
  let registration: ServiceWorkerRegistration;
  try {
    registration = await container.register('./service-worker.js', {
      updateViaCache: 'none',
    });
  } catch {
    return;
  }
  const watch = (): void => {
    const worker = registration.installing;
    worker?.addEventListener('statechange', () => {
      if (worker.state !== 'installed' || !again) return;
      tell('A new version of this page is ready for your next visit.');
    });
  };
  watch();
  registration.addEventListener('updatefound', watch);
}
