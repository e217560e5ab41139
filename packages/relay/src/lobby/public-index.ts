import { type Attributes, has, type Lobby } from './lobby.js'
import { isListed, type PublicPage, type PublicQuery } from './store.js'

/** Returns the index of the first number that is not less than `number`. */
function placeOf(numbers: readonly number[], number: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Maximum number of lobbies examined for one page. A rare combination of frequent values has many candidates and few
 * results; the next page continues where this one stopped.
 */
const MOST_LOOKS = 500

const LISTED = 'listed'

/** Finds listed lobbies, the newest first, by an index of their data and free slots. */
export function createPublicIndex() {
  const lobbies = new Map<number, Lobby>()
  /** Numbers of the lobbies that have a trait, in ascending order. */
  const byTrait = new Map<string, number[]>()

  /** Most numbers are the highest so far and are appended, which moves no others. */
  const add = (trait: string, number: number) => {
    const numbers = byTrait.get(trait) ?? []
    byTrait.set(trait, numbers)
    const place = placeOf(numbers, number)
    if (numbers[place] !== number) numbers.splice(place, 0, number)
  }
  const drop = (trait: string, number: number) => {
    const numbers = byTrait.get(trait)
    if (numbers === undefined) return
    const place = placeOf(numbers, number)
    if (numbers[place] === number) numbers.splice(place, 1)
    if (numbers.length === 0) byTrait.delete(trait)
  }

  return {
    /**
     * Updates the index after a lobby has changed.
     * @param number increases with every created lobby.
     * @param before undefined for a new lobby.
     * @param after undefined for a lobby that was removed.
     */
    change: (number: number, before: Lobby | undefined, after: Lobby | undefined): void => {
      if (after !== undefined && isListed(after)) lobbies.set(number, after)
      else lobbies.delete(number)
      if (before !== undefined && after !== undefined && haveSameTraits(before, after)) return
      const had = traitsOf(before)
      const now = traitsOf(after)
      for (const trait of had) if (!now.has(trait)) drop(trait, number)
      for (const trait of now) if (!had.has(trait)) add(trait, number)
    },

    page: ({ data, minFree, limit, after }: PublicQuery): PublicPage => {
      const numbers = fewest(wantedTraits(data, minFree > 0).map((trait) => byTrait.get(trait) ?? []))
      const found: Lobby[] = []
      const start = after === undefined ? numbers.length : placeOf(numbers, Number(after))
      const end = Math.max(0, start - MOST_LOOKS)
      let last = 0
      for (let index = start - 1; index >= end; index -= 1) {
        const number = numbers[index] as number
        const lobby = lobbies.get(number) as Lobby
        if (!fits(lobby, minFree, data)) continue
        if (found.length === limit) return { lobbies: found, next: String(last) }
        found.push(lobby)
        last = number
      }
      return { lobbies: found, next: end === 0 ? undefined : String(numbers[end]) }
    },
  }
}

const freeSlots = ({ maxPlayers, members }: Lobby) => maxPlayers - members.length

const fits = (lobby: Lobby, minFree: number, data: Attributes) => freeSlots(lobby) >= minFree && has(lobby.data, data)

/** True if the index needs no update, which is usual. */
const haveSameTraits = (a: Lobby, b: Lobby) =>
  a.data === b.data && isListed(a) === isListed(b) && freeSlots(a) > 0 === freeSlots(b) > 0

/** Each trait is indexed twice: for all listed lobbies that have it, and for those of them with a free slot. */
function traitsOf(lobby: Lobby | undefined): ReadonlySet<string> {
  if (lobby === undefined || !isListed(lobby)) return new Set()
  const traits = [LISTED, ...Object.entries(lobby.data).map(traitOf)]
  return new Set(freeSlots(lobby) > 0 ? traits.flatMap((trait) => [any(trait), free(trait)]) : traits.map(any))
}

function wantedTraits(data: Attributes, isFree: boolean): string[] {
  const wanted = Object.entries(data)
  return (wanted.length === 0 ? [LISTED] : wanted.map(traitOf)).map(isFree ? free : any)
}

const any = (trait: string) => `* ${trait}`
const free = (trait: string) => `+ ${trait}`
const traitOf = ([key, value]: readonly [string, Attributes[string]]) => `${key} ${typeof value} ${value}`

const fewest = (lists: readonly (readonly number[])[]): readonly number[] =>
  lists.reduce((least, list) => (list.length < least.length ? list : least))
