/** A value, or the promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * Calls `next` with a value, at once if it is there already: most values are, and a promise for each would cost more
 * than the rest of a request.
 * @param work is passed on to `next`, which then need not be made anew for each value.
 */
export function whenKnown<T, Result>(value: Awaitable<T>, next: (value: T) => Result): Awaitable<Awaited<Result>>
export function whenKnown<T, Result, Work>(
  value: Awaitable<T>,
  next: (value: T, work: Work) => Result,
  work: Work,
): Awaitable<Awaited<Result>>
export function whenKnown<T, Result, Work>(
  value: Awaitable<T>,
  next: (value: T, work: Work) => Result,
  work?: Work,
): Awaitable<Awaited<Result>> {
  const result = value instanceof Promise ? value.then((known) => next(known, work as Work)) : next(value, work as Work)
  return result as Awaitable<Awaited<Result>>
}
