import fc from 'fast-check'
import type { LobbyCommand } from './command.js'
import { join } from './lobby.fixture.js'

export const ids = ['ann', 'bob', 'cleo', 'dora', 'eve', 'fay', 'gus']
const anyone = fc.constantFrom(...ids)
/** Stands for the current host when the command runs. */
export const HOST = 'the host'
const host = fc.constant(HOST)
export const rarely = fc.constantFrom(true, false, false, false)
const mostlyHost = fc.oneof({ weight: 4, arbitrary: host }, { weight: 1, arbitrary: anyone })
const value = fc.constantFrom('red', 7, true, null)
const changes = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { maxKeys: 2 })
const ifVersion = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined })
const ip = fc.constantFrom(undefined, undefined, undefined, '198.51.100.1')

const weighted = (weights: readonly (readonly [number, fc.Arbitrary<LobbyCommand>])[]) =>
  fc.oneof(...weights.map(([weight, arbitrary]) => ({ weight, arbitrary })))
const byPlayer = weighted([
  [
    10,
    fc.record({ playerId: anyone, ip }).map((one) => join(one.playerId, one.ip === undefined ? {} : { ip: one.ip })),
  ],
  [5, fc.record({ kind: fc.constant('start'), playerId: mostlyHost })],
  [2, fc.record({ kind: fc.constant('leave'), playerId: fc.oneof(host, anyone) })],
  [4, fc.record({ kind: fc.constant('heartbeat'), playerId: anyone })],
  [1, fc.record({ kind: fc.constant('stop'), playerId: mostlyHost })],
  [1, fc.record({ kind: fc.constantFrom('close', 'heartbeat', 'heartbeat', 'heartbeat'), playerId: host })],
  [2, fc.record({ kind: fc.constant('setReady'), playerId: anyone, ready: fc.boolean() })],
  [1, fc.record({ kind: fc.constant('setData'), playerId: mostlyHost, changes, ifVersion })],
  [1, fc.record({ kind: fc.constant('setMemberData'), playerId: anyone, changes, ifVersion })],
  [2, fc.record({ kind: fc.constant('kick'), playerId: mostlyHost, targetId: anyone, ban: fc.boolean() })],
  [
    3,
    fc.record({
      kind: fc.constantFrom('unban', 'transferHost', 'transferHost'),
      playerId: mostlyHost,
      targetId: anyone,
    }),
  ],
  [3, fc.record({ kind: fc.constant('decide'), playerId: mostlyHost, applicantId: anyone, approve: fc.boolean() })],
])
/** Commands of the system. Their details are filled in from the state when they run. */
const bySystem = fc.record({
  system: fc.constantFrom(
    'tick',
    'open',
    'open',
    'open',
    'open',
    'hand over',
    'hand over',
    'assign',
    'match ends',
    'fail',
    'authorize',
    'authorize',
    'authorize',
    'revoke',
    'lose',
    'end',
  ),
})
/** Lets time pass, with heartbeats from all players, from all but one, or from none. */
const passing = fc.record({
  steps: fc.constantFrom(1, 2, 4, 7, 13),
  silent: fc.oneof(anyone, host, fc.constantFrom('nobody', 'nobody', 'everybody')),
})
export const action = fc.oneof(
  { weight: 12, arbitrary: byPlayer },
  { weight: 8, arbitrary: bySystem },
  { weight: 1, arbitrary: passing },
)
