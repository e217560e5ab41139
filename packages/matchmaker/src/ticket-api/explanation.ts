// pure: why a ticket waits, as clients of the ticket API see it
import type { TicketExplanation } from '../matches/matchmaker.js'
import { type Explanation, type NextRelaxation, PAUSED, relaxationSentence } from '../queues/explain.js'
import { FIRST_STEP, stepOf } from './count-steps.js'
import { inSnakeCase, type InSnakeCase } from './snake-case.js'

/**
 * The keys that depend on other players. Only backends see them: with a few accounts, a player could find out from them
 * where another player is.
 */
type AboutOthers = 'compatible' | 'rules' | 'blocking' | 'nearest' | 'lacks'
type QueueExplanation = Omit<Explanation, AboutOthers | 'next'> & {
  readonly [Key in AboutOthers]?: Explanation[Key] | undefined
} & { readonly next?: NextRelaxation | undefined }

/** The explanation in JSON, which leaves out undefined values. */
export type ExplanationView = InSnakeCase<
  Omit<TicketExplanation, 'waitingFor' | 'queues'> &
    Partial<Pick<TicketExplanation, 'waitingFor'>> & { readonly queues: readonly QueueExplanation[] }
>

/** The matchmaker's full explanation, for backends. */
export const explanationView = (explanation: TicketExplanation): ExplanationView => inSnakeCase(explanation)

/**
 * The explanation for players. It tells about the queue's rules and the player's own waiting, and about other players
 * only their approximate number.
 */
export function ownExplanationView(explanation: TicketExplanation): ExplanationView {
  const { summary, waitingFor } = explanation
  const queues = explanation.queues.map(ownView)
  const reasons = queues.map((one) => (queues.length === 1 ? one.summary : `${one.queue}: ${one.summary}`))
  const fromQueues = waitingFor === 'players' && queues.length > 0 ? reasons.join(' ') : summary
  const own = summary !== PAUSED && waitingFor === 'servers' ? NO_SERVERS : fromQueues
  return inSnakeCase({ ...explanation, placement: undefined, summary: own, queues })
}

const NO_SERVERS = 'Its match is found, but no more servers may be deployed now.'

function ownView({ queue, paused, waitedMs, waiting, next }: Explanation): QueueExplanation {
  const atLeast = stepOf(waiting)
  const others = atLeast === 0 ? `Fewer than ${FIRST_STEP} others wait` : `At least ${atLeast} others wait`
  const summary = paused === true ? PAUSED : `${others}.${relaxationSentence(next)}`
  return { queue, paused, summary, waitedMs, waiting: atLeast, others: atLeast, next }
}
