/** A value, or the promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * Calls `next` with a value, at once if it is there already: most values are, and a promise for each would cost more
 * than the rest of a request.
 */
export const whenKnown = <T, Result>(value: Awaitable<T>, next: (value: T) => Result): Awaitable<Awaited<Result>> =>
  (value instanceof Promise ? value.then(next) : next(value)) as Awaitable<Awaited<Result>>
