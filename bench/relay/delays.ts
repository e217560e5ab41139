import { atMost, type Figure } from '../figure.js'
import type { Load } from './load.js'
import type { Outcome, Way } from './messages.js'
import { FORWARDING_COST_GOAL, type Size } from './overload.js'
import type { Relayers } from './relayers.js'

/** Packets per second at which no packet may be lost. */
const EASY = 10_000
const ROUNDS = 5
const SECONDS = 2
const DIRECT_SECONDS = 0.5
const ADDED_GOAL_MICROSECONDS = 60

interface Round {
  /** The outcome without a relay. */
  readonly direct: Outcome
  readonly relay: Outcome
  readonly forwarding: Outcome
}

/**
 * Measures delays at a load that loses no packets. Direct sending, the relay and plain forwarding take turns, because
 * machines react faster at some times than at others.
 */
export async function delays(load: Load, size: Size, { relay, forwarding }: Relayers) {
  const along = (way: Way, seconds = SECONDS) => load.order({ way, size, perSecond: EASY, seconds })
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const direct = await along({ kind: 'direct' }, DIRECT_SECONDS)
    const before = round % 2 === 0 ? undefined : await along(forwarding.way)
    const ours = await along(relay.way)
    rounds.push({ direct, relay: ours, forwarding: before ?? (await along(forwarding.way)) })
  }
  const added = (name: 'relay' | 'forwarding') =>
    rounds.map((round) => round[name].latency.p50 - round.direct.latency.p50)
  const addedByForwarding = added('forwarding')
  const shares = added('relay').map((ours, round) => ours / (addedByForwarding[round] as number))
  const name = `relay: added latency p50 of ${size} B packets at 10,000/s`
  const lost = rounds.reduce((sum, round) => sum + round.relay.sent - round.relay.received, 0)
  const figures: readonly Figure[] = [
    atMost(name, added('relay'), ADDED_GOAL_MICROSECONDS, 'µs'),
    atMost(`${name}, against node:dgram that only forwards`, shares, FORWARDING_COST_GOAL, '×'),
    atMost(`relay: ${size} B packets lost at 10,000/s in ${ROUNDS * SECONDS} s`, lost, 0, 'packets'),
  ]
  return { figures, found: rounds.map(latenciesOf) }
}

const latenciesOf = ({ direct, relay, forwarding }: Round) => ({
  direct: direct.latency,
  relay: relay.latency,
  forwarding: forwarding.latency,
})
