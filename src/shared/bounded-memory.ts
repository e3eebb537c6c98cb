/** A memory of bounded size: keeps the values that were set last. */
export function createBoundedMemory<T>(size: number): {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
} {
  const values = new Map<string, T>();
  return {
    get: (key) => values.get(key),
    delete: (key) => void values.delete(key),
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      if (values.size > size) values.delete(values.keys().next().value ?? "");
    },
  };
}
