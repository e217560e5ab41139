/** Records by unique name, in insertion order; renaming does not change the order. */
export interface Named<Item extends { name: string }> {
  get(name: string): Item | undefined
  has(name: string): boolean
  /** Adds a record. Returns false, with no change, if the name is taken. */
  add(item: Item): boolean
  /** Renames a record. Returns false, with no change, if another record has the new name. */
  rename(item: Item, name: string): boolean
  delete(item: Item): void
  values(): Item[]
}

export function createNamed<Item extends { name: string }>(): Named<Item> {
  let items = new Map<string, Item>()
  return {
    get: (name) => items.get(name),
    has: (name) => items.has(name),
    add: (item) => {
      if (items.has(item.name)) return false
      items.set(item.name, item)
      return true
    },
    rename: (item, name) => {
      if (name === item.name) return true
      if (items.has(name)) return false
      item.name = name
      // The map is rebuilt, because a map puts a new key last.
      items = new Map(Array.from(items.values(), (each) => [each.name, each]))
      return true
    },
    delete: (item) => {
      items.delete(item.name)
    },
    values: () => [...items.values()],
  }
}
