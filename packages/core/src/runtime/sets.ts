const NOTHING: ReadonlySet<never> = new Set<never>()

/** Creates sets by key. A key without entries takes no memory. */
export function createSets<Key, Entry>() {
  const sets = new Map<Key, Set<Entry>>()
  return {
    of: (key: Key): ReadonlySet<Entry> => sets.get(key) ?? NOTHING,
    /** Adds an entry, and returns the set. */
    add: (key: Key, entry: Entry): ReadonlySet<Entry> => {
      const set = sets.get(key) ?? new Set()
      sets.set(key, set.add(entry))
      return set
    },
    /** Removes an entry. Returns false if there was none. */
    delete: (key: Key, entry: Entry): boolean => {
      const set = sets.get(key)
      if (set?.delete(entry) !== true) return false
      if (set.size === 0) sets.delete(key)
      return true
    },
    keys: (): Iterable<Key> => sets.keys(),
  }
}
