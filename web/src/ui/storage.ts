// What the browser keeps. It may refuse to keep anything, or be full; then it
// only forgets.

export function storage(kind: 'local' | 'session'): Storage | null {
  try {
    return kind === 'local' ? localStorage : sessionStorage;
  } catch {
    return null;
  }
}

export function readText(key: string, from = storage('local')): string | null {
  return from?.getItem(key) ?? null;
}

// Returns the fields of an object that is kept as JSON; none if it is damaged.
export function fieldsOf(raw: string | null): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(raw ?? '{}') as object) };
  } catch {
    return {};
  }
}

const BOOKS = 'tara.books';

// Returns the opening books that are kept: pages, too large for local storage.
export async function readBooks(): Promise<string[]> {
  try {
    if (!(await caches.has(BOOKS))) return [];
    const kept = await caches.open(BOOKS);
    const keys = await kept.keys();
    return await Promise.all(
      keys.map(async (key) => (await kept.match(key))!.text()));
  } catch {
    return [];
  }
}

// Keeps a book in the place of an earlier one with the name.
export async function writeBook(name: string, page: string): Promise<void> {
  try {
    const kept = await caches.open(BOOKS);
    await kept.put(`./${encodeURIComponent(name)}`, new Response(page));
  } catch {
    // It is open until the next visit.
  }
}

export async function removeBooks(): Promise<void> {
  await caches.delete(BOOKS).catch(() => false);
}

// Returns whether it is kept.
export function write(
  key: string,
  value: unknown,
  to = storage('local'),
): boolean {
  try {
    to?.setItem(key, typeof value === 'string' ? value : JSON.stringify(value));
    return to !== null;
  } catch {
    return false;
  }
}
