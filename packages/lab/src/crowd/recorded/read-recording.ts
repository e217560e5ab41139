import { InvalidInput } from '@muster/core'
import { createPlayerRecorder, playerOf, readLine, readTicketInput, type RecordedLine } from '@muster/matchmaker/replay'
import { InvalidCrowd } from '../lines/invalid-crowd.js'
import { refuseLong } from '../lines/split-lines.js'

/**
 * Reads the lines of a recording, or of several one after the other, in the order of time. Addresses are not kept: who
 * has no coordinates keeps only whom the player shares a network with.
 * @throws {InvalidCrowd} naming the line and the field
 */
export async function readRecording(lines: Iterable<string> | AsyncIterable<string>): Promise<readonly RecordedLine[]> {
  const recorded = createPlayerRecorder(false)
  const read: RecordedLine[] = []
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    refuseLong(text, number)
    const line = inWords(number, () => readLine(text, number))
    refuseOdd(line, number, read[0])
    if (line.kind !== 'create') {
      read.push(line)
      continue
    }
    const { players, ...ticket } = line.ticket
    inWords(number, () =>
      readTicketInput({ queues: ticket.queues, players: players.map(playerOf), priority: ticket.priority }),
    )
    const nameless = players.map((player) => playerOf(recorded(player, player.coordinates)))
    read.push({ ...line, ticket: { ...ticket, players: nameless } })
  }
  // Lines whose players were located first were written late.
  return read.toSorted((one, other) => one.at - other.at || one.n - other.n)
}

/** The year 2100 in epoch milliseconds. */
const LATEST = 4_102_444_800_000
/** Longest recording in milliseconds (our choice): it is replayed, tick by tick. */
const LONGEST_MS = 31 * 24 * 3_600_000

function refuseOdd(line: RecordedLine, number: number, first: RecordedLine | undefined): void {
  const times = { at: line.at, ...(line.kind === 'create' && { 'ticket.createdAt': line.ticket.createdAt }) }
  for (const [field, at] of Object.entries(times)) {
    if (!(at >= 0 && at <= LATEST))
      throw new InvalidCrowd(number, field, `must be epoch milliseconds from 0 to ${LATEST}, got ${at}`)
  }
  if (first !== undefined && Math.abs(line.at - first.at) > LONGEST_MS)
    throw new InvalidCrowd(number, 'at', 'must be within 31 days of the first line')
}

function inWords<T>(number: number, of: () => T): T {
  try {
    return of()
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const { field = '', message } = error
    const words = message.replace(/^(recording, line \d+|ticket): /, '').replace(field === '' ? '' : `${field}: `, '')
    const torn = /is no JSON: .*(ends too early|a text without an end)$/.exec(words)
    throw new InvalidCrowd(number, field, torn === null ? words : `is torn: ${torn[1]}`)
  }
}
