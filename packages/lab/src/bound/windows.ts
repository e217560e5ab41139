// pure: windows of a run: some of the matches made one after the other
import type { Present } from './presence.js'

/** Tickets who left the queue one after the other, with whole matches. */
export interface Window {
  /** In the order in which they came. */
  readonly tickets: readonly Present[]
  readonly matches: readonly (readonly Present[])[]
}

/**
 * Cuts the tickets into windows of at most `size`, in the order in which they left the queue, and takes up to `most`
 * windows, evenly spread. No match is cut in two.
 */
export function windowsOf(present: readonly Present[], size: number, most: number): Window[] {
  const parted = partiesOf(present)
  const count = parted.reduce((sum, tickets) => sum + tickets.length, 0)
  const wanted = Math.max(1, Math.ceil(count / size))
  const cuts: Present[][][] = Array.from({ length: wanted }, () => [])
  let before = 0
  for (const tickets of parted) {
    cuts[Math.min(wanted - 1, Math.floor((before * wanted) / count))]?.push([...tickets])
    before += tickets.length
  }
  const taken = Math.min(most, wanted)
  return Array.from({ length: taken }, (_, at) => cuts[Math.floor(((at + 0.5) * wanted) / taken)] ?? []).map(
    (window) => ({
      tickets: window.flat().toSorted((one, other) => one.from - other.from || one.ticket - other.ticket),
      matches: window.filter((tickets) => tickets.length > 1),
    }),
  )
}

/** The tickets of each match, and those without a match by themselves, in the order in which they left the queue. */
function partiesOf(present: readonly Present[]): (readonly Present[])[] {
  const matches = matchesOf(present)
  const alone = present.filter(({ match }) => match === undefined).map((ticket) => [ticket])
  return [...matches, ...alone].toSorted(
    ([one], [other]) => (one?.until ?? 0) - (other?.until ?? 0) || (one?.ticket ?? 0) - (other?.ticket ?? 0),
  )
}

/** The tickets of each match. */
export function matchesOf(present: readonly Present[]): Present[][] {
  const matches = new Map<number, Present[]>()
  for (const ticket of present) {
    if (ticket.match === undefined) continue
    const members = matches.get(ticket.match) ?? []
    matches.set(ticket.match, members)
    members.push(ticket)
  }
  return [...matches.values()]
}
