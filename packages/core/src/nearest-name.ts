// pure: the known name that a misspelt name most likely means

/** Maximum number of names that are compared, so that a long list costs no more than a short one. */
const MOST_NAMES = 1000
/** Maximum length of a compared name. A longer name is unlikely to be misspelt by only a letter or two. */
const LONGEST = 64

/** Synonyms: a queue is called a profile in the ticket API, as in similar services. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['queue', 'profile'],
  ['queues', 'profiles'],
  ['profile', 'queue'],
  ['profiles', 'queues'],
])

/** Normalizes a name: `matchSize`, `match_size` and `match-size` are the same name to a reader. */
const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/**
 * Returns the known name that a misspelt name most likely means; undefined if none is near. These known names are near:
 * - a synonym,
 * - a name that begins with the given one,
 * - a name that differs only by case or separators,
 * - a name that differs by at most one letter in four, or by a single letter if it has three letters or more.
 */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > LONGEST) return undefined
  const wanted = plain(given)
  if (wanted === '') return undefined
  const other = OTHER_WORDS.get(wanted)
  if (other !== undefined && known.includes(other)) return other
  let nearest: string | undefined
  let least = (wanted.length < 3 ? 0 : Math.max(1, Math.floor(wanted.length / 4))) + 1
  for (const name of known.slice(0, MOST_NAMES)) {
    if (name.length > LONGEST || name === given) continue
    const candidate = plain(name)
    if (Math.abs(candidate.length - wanted.length) >= least && !isBegun(candidate, wanted)) continue
    const distance = isBegun(candidate, wanted) ? 0.5 : editDistance(wanted, candidate)
    if (distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** Returns the end of a message about an unknown name, e.g. '; did you mean ranked?', or an empty string. */
export function didYouMean(given: string, known: readonly string[]): string {
  const name = nearestName(given, known)
  return name === undefined ? '' : `; did you mean ${name}?`
}

/** True if the name is the given name with a unit or an ending, e.g. `timeoutMs` for `timeout`. */
const isBegun = (name: string, given: string) =>
  given.length >= 4 && name.length - given.length <= 3 && name.startsWith(given)

/** Returns the number of letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1]
      const kept = (last[j - 1] as number) + (same ? 0 : 1)
      let best = Math.min(kept, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (swapped) best = Math.min(best, (beforeLast[j - 2] as number) + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[other.length] as number
}
