import type { Crowd, CrowdParty } from '../crowd.js'
import { readSeed } from '../generate/parameters.js'
import { createStreams } from '../generate/streams.js'
import { idWith, inOrder, withIds } from './copies.js'

/** Milliseconds of a block (our choice: short beside a day's curve, long beside a wait). */
const BLOCK_MS = 10 * 60_000

/**
 * Another crowd that might have come as well (a bootstrap): of the parties that first come in the same ten minutes as
 * many are drawn, with replacement. Who is drawn again has ids of its own and comes at another time of these ten
 * minutes.
 * @throws {InvalidInput} for a wrong seed
 */
export function resampleCrowd({ header, parties }: Crowd, seed: number): Crowd {
  const streams = createStreams(readSeed(seed))
  const { made: _, ...rest } = header
  const blocks = new Map<number, CrowdParty[]>()
  for (const party of parties) {
    const block = Math.floor(party.at / BLOCK_MS)
    const others = blocks.get(block)
    if (others === undefined) blocks.set(block, [party])
    else others.push(party)
  }
  const drawn: CrowdParty[] = []
  for (const [block, choices] of blocks) {
    const [choosing, moving] = [streams('sample', block), streams('arrival', block)]
    const fromMs = block * BLOCK_MS
    const lengthMs = Math.min(BLOCK_MS, header.durationMs - fromMs)
    const copies = new Map<CrowdParty, number>()
    for (let left = choices.length; left > 0; left -= 1) {
      const party = choices[Math.floor(choosing() * choices.length)] as CrowdParty
      const copy = (copies.get(party) ?? 0) + 1
      copies.set(party, copy)
      const at = fromMs + Math.floor(moving() * lengthMs)
      drawn.push(copy === 1 ? party : { ...withIds(party, (id) => idWith(id, '', `~${copy}`)), at })
    }
  }
  return { header: rest, parties: inOrder(drawn) }
}
