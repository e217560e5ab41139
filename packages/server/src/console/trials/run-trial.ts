import type { TrialResult } from '@muster/console/wire'
import { replayTickets, type QueueDefinition } from '@muster/matchmaker'
import { factsIn, linesOf, timeOf } from './recorded-text.js'
import { trialSentences } from './trial-sentences.js'
import { trialSide } from './trial-side.js'

/** What a trial replays, as plain data. */
export interface TrialJob {
  readonly pieces: readonly Uint8Array[]
  /** Epoch milliseconds: lines before it are left out. */
  readonly since: number
  readonly queue: string
  readonly asIs: readonly QueueDefinition[]
  readonly changed: readonly QueueDefinition[]
  /** What is known to be missing, in words. */
  readonly missing: readonly string[]
}

/** Replays recorded tickets by the queues as they are, and as they would be. @param progressed from 0 to 1 */
export async function runTrial(job: TrialJob, progressed: (share: number) => void): Promise<TrialResult> {
  const { queue, asIs, changed } = job
  const lines = [...linesOf(job.pieces, job.since)]
  const facts = factsIn(lines)
  // Servers start at once: what differs is the wait for a match.
  const before = await replayTickets(lines, { queues: asIs, startMs: 0, progressed: (share) => progressed(share / 2) })
  const after = await replayTickets(lines, {
    queues: changed,
    startMs: 0,
    acceptance: asksAnew(job) ? 'always' : 'recorded',
    progressed: (share) => progressed(0.5 + share / 2),
  })
  const sides = { asIs: trialSide(queue, before, facts), changed: trialSide(queue, after, facts) }
  const refused = after.refused.length - before.refused.length
  return {
    from: timeOf(lines[0] ?? '') || 0,
    to: timeOf(lines.at(-1) ?? '') || 0,
    tickets: [...facts.values()].filter(({ queues }) => queues.includes(queue)).length,
    missing: [...job.missing, ...(refused > 0 ? [`${refused} tickets would be refused by the changed queue.`] : [])],
    ...sides,
    sentences: trialSentences(sides.asIs, sides.changed),
  }
}

/** Whether the change asks players to accept, whom nobody asked: then it is assumed that they do. */
function asksAnew({ queue, asIs, changed }: TrialJob): boolean {
  const asks = (queues: readonly QueueDefinition[]) =>
    queues.find(({ name }) => name === queue)?.acceptance !== undefined
  return !asks(asIs) && asks(changed)
}
