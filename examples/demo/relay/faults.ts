import type { OperationId } from '@muster/core/api'
import type { Fault } from '@muster/emulator'

const operations = [
  'relays.create',
  'relays.get',
  'relays.delete',
  'relays.authorizeUser',
  'relays.revokeUser',
] as const satisfies readonly OperationId[]

/** The faults of `--faults` for relay sessions, as data: a service on a bad day. */
export const badDay: readonly Fault[] = [
  ...operations.flatMap((operation): Fault[] => [
    { operation, probability: 0.02, drop: 'before' },
    { operation, probability: 0.02, drop: 'after' },
    { operation, probability: 0.02, status: 500, effect: true },
  ]),
  { operation: 'relays.create', probability: 0.03, relay: 'no tokens' },
  { operation: 'relays.create', probability: 0.2, webhooks: 'lost' },
]
