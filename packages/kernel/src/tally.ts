// pure: counts how often each number occurs

export interface Tally {
  add(number: number): void
  remove(number: number): void
  /** The most common number, of several the greatest; undefined if there are not two different numbers. */
  commonest(): number | undefined
}

export function createTally(): Tally {
  const counts = new Map<number, number>()
  return {
    add: (number) => {
      counts.set(number, (counts.get(number) ?? 0) + 1)
    },
    remove: (number) => {
      const left = (counts.get(number) ?? 0) - 1
      if (left > 0) counts.set(number, left)
      else counts.delete(number)
    },
    commonest: () => {
      if (counts.size < 2) return undefined
      let [best, most] = [0, 0]
      for (const [number, count] of counts)
        if (count > most || (count === most && number > best)) [best, most] = [number, count]
      return best
    },
  }
}
