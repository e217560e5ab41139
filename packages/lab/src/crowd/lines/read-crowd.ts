import type { Crowd, CrowdHeader, CrowdParty } from '../crowd.js'
import { InvalidCrowd } from './invalid-crowd.js'
import { readHeader, readParty } from './party-line.js'

/**
 * Reads a crowd, line by line.
 * @param lines as `splitLines` gives them; empty lines are ignored.
 * @throws {InvalidCrowd} naming the line, the field and its value
 */
export async function readCrowd(lines: Iterable<string> | AsyncIterable<string>): Promise<Crowd> {
  let header: CrowdHeader | undefined
  const parties: CrowdParty[] = []
  const check = createOrderCheck()
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    if (header === undefined) {
      header = readHeader(text, number)
      continue
    }
    const party = readParty(text, number, header)
    check(party, number)
    parties.push(party)
  }
  if (header === undefined) throw new InvalidCrowd(1, '', 'is missing: the crowd is empty')
  if (parties.length === 0) throw new InvalidCrowd(number + 1, '', 'is missing: the crowd has no parties')
  const { made } = header
  if (made !== undefined && made.parties !== parties.length) {
    const words = `is missing: the crowd was made with ${made.parties} parties and has ${parties.length}`
    throw new InvalidCrowd(number + 1, '', `${words}; remove made from its first line to use it as it is`)
  }
  return { header, parties }
}

/** Checks what concerns several parties: their ids and their order. */
function createOrderCheck(): (party: CrowdParty, number: number) => void {
  const ids = new Set<string>()
  let last = 0
  return ({ id, at }, number) => {
    const refuse = (field: string, wrong: string) => new InvalidCrowd(number, field, wrong)
    if (ids.has(id)) throw refuse('id', `is the id of an earlier party too, got ${JSON.stringify(id)}`)
    if (at < last) throw refuse('at', `must not be before the ${last} of the line above, got ${at}`)
    ids.add(id)
    last = at
  }
}
