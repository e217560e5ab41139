/**
 * Options of `lru-cache` for a cache of at most `most` entries, by a size of 1 each. Its option `max` would allocate
 * tables for all of them at once: 10 ms for 100,000, when the program starts.
 */
export const growingTo = (most: number) => ({ maxSize: most, sizeCalculation: () => 1 })
