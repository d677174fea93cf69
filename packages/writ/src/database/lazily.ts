/**
 * An object whose module is loaded when one of its methods is first called: who uses a queue pays
 * for a queue. Its methods must answer promises; `members` are those that do not, and objects
 * inside it.
 */
export function lazily<T extends object>(
  load: () => Promise<T>,
  members: Partial<Record<keyof T, unknown>> = {},
): T {
  let loading: Promise<T> | undefined;
  const known = new Map<string | symbol, unknown>(Object.entries(members));
  return new Proxy({} as T, {
    get(_, name) {
      // An object with `then` would be awaited as a promise.
      if (!known.has(name) && typeof name === 'string' && name !== 'then')
        known.set(name, async (...args: unknown[]) => {
          loading ??= load();
          const loaded = (await loading) as Record<string, (...args: unknown[]) => unknown>;
          return loaded[name]?.(...args);
        });
      return known.get(name);
    },
  });
}
