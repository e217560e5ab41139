import { InvalidInput } from '@muster/core'
import type { Crowd, CrowdParty } from '../crowd.js'
import { inOrder } from './copies.js'

/**
 * Takes a part of a crowd's time. A party that first comes before it takes part with those visits that would begin in
 * it if nobody ever waited; visits after it are left out.
 * @param fromMs and `toMs`: milliseconds from the crowd's start.
 * @throws {InvalidInput} also if nobody comes in it
 */
export function cutCrowd({ header, parties }: Crowd, fromMs: number, toMs: number): Crowd {
  const { startsAt, durationMs } = header
  const refuse = (words: string) => new InvalidInput(`cut: ${words}`, { field: 'cut' })
  if (!Number.isInteger(fromMs) || !Number.isInteger(toMs) || fromMs < 0 || fromMs >= toMs)
    throw refuse(`must be from one whole millisecond to a later one, got ${fromMs} to ${toMs}`)
  if (toMs > durationMs) throw refuse(`must end with the crowd at ${durationMs} ms, got ${toMs}`)
  const cut = parties.flatMap((party) => partOf(party, fromMs, toMs))
  if (cut.length === 0) throw refuse(`nobody comes from ${fromMs} to ${toMs} ms`)
  return {
    header: { format: header.format, startsAt: startsAt + fromMs, durationMs: toMs - fromMs },
    parties: inOrder(cut),
  }
}

function partOf(party: CrowdParty, fromMs: number, toMs: number): CrowdParty[] {
  if (party.at >= toMs) return []
  let begin = party.at
  const inside: { readonly begin: number; readonly visit: CrowdParty['visits'][number] }[] = []
  for (const visit of party.visits) {
    if (begin >= fromMs && begin < toMs) inside.push({ begin, visit })
    begin += visit.playMs + (visit.breakMs ?? 0)
  }
  const [first, last] = [inside[0], inside.at(-1)]
  if (first === undefined || last === undefined) return []
  const { breakMs: _, ...ending } = last.visit
  const visits = [...inside.slice(0, -1).map(({ visit }) => visit), ending]
  return [{ ...party, at: first.begin - fromMs, visits }]
}
