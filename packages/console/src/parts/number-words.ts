// pure: numbers and durations in words

/** Formats a number with thousands separators: `1,234`. */
export const grouped = (number: number): string => format.format(number)

const format = new Intl.NumberFormat('en-US')

const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1000 },
] as const

/** Formats a duration in its two largest units: `3 min 20 s`, `2 h 5 min`, `0 s`. */
export function duration(ms: number): string {
  const first = units.findIndex((unit) => ms >= unit.ms)
  const [large, small] = units.slice(first)
  if (first === -1 || large === undefined) return '0 s'
  const whole = `${Math.floor(ms / large.ms)} ${large.name}`
  const rest = small === undefined ? 0 : Math.floor((ms % large.ms) / small.ms)
  return rest === 0 || small === undefined ? whole : `${whole} ${rest} ${small.name}`
}

/** Formats a count with its noun: `1 server`, `2 servers`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`

/** Groups items by key, in the order of their first occurrence. */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
