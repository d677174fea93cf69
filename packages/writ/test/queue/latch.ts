/**
 * A moment that one part of a test waits for and another part opens: what a test uses instead of
 * sleeping.
 */
export interface Latch<T = void> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

export function latch<T = void>(): Latch<T> {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((done) => {
    open = done;
  });
  return { opened, open };
}
