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
