/**
 * Options of `lru-cache` that bound a cache to `most` entries by their size, which is 1 each. By its option `max` it
 * would make tables for all of them at once: 10 ms for 100,000, at the start of a program that remembers nothing yet.
 */
export const growingTo = (most: number) => ({ maxSize: most, sizeCalculation: () => 1 })
