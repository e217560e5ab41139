import { InvalidInput, type MusterError } from '@muster/core'
import { InvalidQueue, replayTickets } from '@muster/matchmaker'
import type { RecordedLine } from '@muster/matchmaker/replay'

/** When tickets were matched or expired, by id, in epoch milliseconds; or why that is not known. */
export interface WaitEnds {
  readonly at: ReadonlyMap<string, number>
  readonly unknown?: string | undefined
}

/**
 * When the tickets of a recording stopped to wait without giving up. A recording has only what was asked of the
 * matchmaker, so it is replayed with its own queues.
 */
export async function waitEndsOf(
  lines: readonly RecordedLine[],
  progressed?: (share: number) => void,
): Promise<WaitEnds> {
  const start = lines.find((line) => line.kind === 'start' && line.queues !== undefined)
  if (start === undefined) return { at: new Map(), unknown: 'the recording has no queues' }
  try {
    const { tickets } = await replayTickets(numbered(start, lines), { acceptance: 'always', progressed })
    const ends = tickets.flatMap(({ id, outcome, matchedAt, endedAt }): [string, number][] => {
      const at = outcome === 'assigned' ? matchedAt : outcome === 'expired' ? endedAt : undefined
      return at === undefined ? [] : [[id, at]]
    })
    return { at: new Map(ends) }
  } catch (error) {
    if (!(error instanceof InvalidInput) && !(error instanceof InvalidQueue)) throw error
    return { at: new Map(), unknown: `its queues cannot be replayed (${(error as MusterError).message})` }
  }
}

/** The lines in their order, the start with the queues first: those of several recordings have numbers of their own. */
function* numbered(start: RecordedLine, lines: readonly RecordedLine[]): Generator<string> {
  yield JSON.stringify({ ...start, n: 0, at: lines[0]?.at ?? start.at })
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'start') yield JSON.stringify({ ...line, n: index + 1 })
  }
}
