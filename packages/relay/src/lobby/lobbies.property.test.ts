import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeService, type Fault, type FaultRule } from '../fake-service.fixture.js'
import type { RelayCredentials } from '../sessions/session.js'
import type { RelayService } from '../sessions/session-context.js'
import { within } from '../within.fixture.js'
import { failing } from './lobbies.fixture.js'
import { isPresent, type Lobby } from './lobby.js'
import { createMemoryLobbyStore } from './memory-store.js'
import { startProcess } from './process.fixture.js'
import { ownCredentials } from './view.js'

/** Players 0 to 3 share an address. */
const PLAYERS = Array.from({ length: 6 }, (_, index) => ({
  id: `p${index}`,
  ip: index < 4 ? '192.0.2.1' : `198.51.100.${index}`,
}))
const CAPACITY = 4

const who = fc.nat({ max: PLAYERS.length - 1 })
const HOST = -1
const mostlyHost = fc.oneof({ weight: 4, arbitrary: fc.constant(HOST) }, { weight: 1, arbitrary: who })
const lostAnswers: readonly Fault[] = ['request lost', 'response lost', 'carried out late', 'server error']
const faultsOf: Readonly<Record<keyof RelayService, readonly Fault[]>> = {
  create: [...lostAnswers, 'never ready', 'in error', 'without tokens', 'too few users'],
  list: ['request lost'],
  get: ['request lost', 'server error'],
  delete: lostAnswers,
  authorizeUser: [...lostAnswers, 'conflict', 'conflict after the effect', 'token of another user'],
  revokeUser: [...lostAnswers, 'success without effect'],
}
const rule: fc.Arbitrary<FaultRule> = fc
  .constantFrom<keyof RelayService>(
    'create',
    'create',
    'list',
    'get',
    'delete',
    'authorizeUser',
    'authorizeUser',
    'revokeUser',
    'revokeUser',
    'revokeUser',
  )
  .chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      fault: fc.constantFrom(...faultsOf[operation]),
      chance: fc.constantFrom(0.2, 1),
    }),
  )

const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('join' as const), by: who }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start' as const), by: mostlyHost }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('leave' as const), by: fc.oneof(who, fc.constant(HOST)) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('kick' as const, 'transferHost' as const),
      by: mostlyHost,
      target: who,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stop' as const), by: mostlyHost }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 300, 2000, 7000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('silence' as const),
      by: fc.oneof(who, fc.constant(HOST)),
      ms: fc.constantFrom(32_000, 50_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('faults' as const), rules: fc.array(rule, { maxLength: 3, size: 'max' }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
)

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

/** Runs one schedule and returns what was seen of it. */
async function play(actions: readonly Action[], seed: number): Promise<void> {
  const clock = createManualClock()
  const random = seededRandom(seed)
  const service = createFakeService({ clock, random, latencyMs: 200 })
  const store = createMemoryLobbyStore()
  const start = () => startProcess({ service, store, clock, random })
  let process = start()
  const { lobbyId, code } = await process.lobbies.create({
    player: PLAYERS[0] as (typeof PLAYERS)[0],
    maxPlayers: CAPACITY,
    requireReady: false,
  })
  /** Every credential that each player was shown. */
  const shown = new Map(PLAYERS.map(({ id }) => [id, new Map<number, RelayCredentials>()]))

  const read = async (): Promise<Lobby | undefined> => (await store.get(lobbyId))?.lobby
  const nameOf = async (by: number) =>
    by === HOST ? ((await read())?.hostId ?? 'nobody') : (PLAYERS[by]?.id as string)

  /** Checks the invariants, and records what players see now. */
  const look = async () => {
    const lobby = await read()
    if (lobby === undefined) return
    expect(lobby.members.length).toBeLessThanOrEqual(CAPACITY)
    for (const { id } of PLAYERS) {
      const credentials = ownCredentials(lobby, id)
      if (credentials !== undefined) shown.get(id)?.set(credentials.userToken, credentials)
    }
    const all = [...shown].flatMap(([id, seen]) => Array.from(seen.values(), (credentials) => ({ id, ...credentials })))
    for (const one of all) {
      expect(all.filter((other) => other.userToken === one.userToken && other.id !== one.id)).toEqual([])
      expect(
        all.filter(
          (other) =>
            other.sessionId === one.sessionId && other.role === 'host' && one.role === 'host' && other.id !== one.id,
        ),
      ).toEqual([])
    }
  }
  /** Advances the clock with heartbeats from all players except `silent`. */
  const pass = async (ms: number, silent?: string) => {
    for (let left = ms; left > 0; left -= 5000) {
      for (const { id } of PLAYERS)
        if (id !== silent) void failing(process.lobbies.heartbeat({ lobbyId, playerId: id }))
      await clock.advance(Math.min(5000, left))
      await look()
    }
  }

  for (const one of actions) {
    const { lobbies } = process
    const playerId = 'by' in one ? await nameOf(one.by) : ''
    const player = PLAYERS.find(({ id }) => id === playerId)
    if (one.do === 'join' && player !== undefined) void failing(lobbies.join({ player, code }))
    if (one.do === 'start') void failing(lobbies.start({ lobbyId, playerId }))
    if (one.do === 'stop') void failing(lobbies.stop({ lobbyId, playerId }))
    if (one.do === 'leave') void failing(lobbies.leave({ lobbyId, playerId }))
    if (one.do === 'kick')
      void failing(lobbies.kick({ lobbyId, playerId, targetId: PLAYERS[one.target]?.id as string }))
    if (one.do === 'transferHost')
      void failing(lobbies.transferHost({ lobbyId, playerId, targetId: PLAYERS[one.target]?.id as string }))
    if (one.do === 'faults') service.setFaults(one.rules)
    if (one.do === 'crash') {
      process.kill()
      process = start()
    }
    await pass(one.do === 'pass' || one.do === 'silence' ? one.ms : 1, one.do === 'silence' ? playerId : undefined)
  }

  // End all faults. After a lease, two sessions and a search for orphans, no fault may have a lasting effect.
  service.setFaults([])
  await pass(300_000)
  const lobby = await read()
  const inside = new Set(lobby?.members.filter(isPresent).map(({ id }) => id))
  for (const [id, seen] of shown) {
    const valid = [...seen.values()].filter(({ sessionToken, userToken }) => service.isValid(sessionToken, userToken))
    if (!inside.has(id)) expect(valid).toEqual([])
  }
  if (lobby?.phase === 'running') {
    for (const id of inside) {
      const credentials = ownCredentials(lobby, id)
      expect(credentials?.role).toBe(id === lobby.hostId ? 'host' : 'client')
      expect(service.isValid(credentials?.sessionToken ?? -1, credentials?.userToken ?? -1)).toBe(true)
    }
    expect(service.open).toEqual([lobby.run?.status === 'relayed' ? lobby.run.session.id : 'none'])
  } else expect(service.open).toEqual([])

  await within(clock, process.close())
  expect(service.open).toEqual([])
  expect(await store.ids()).toEqual([])
}

test('property: after any failures a lobby has one host, no extra slot and no token or session left over', async () => {
  const schedules = fc.array(action, { minLength: 20, maxLength: 60, size: 'max' })
  const holds = fc.asyncProperty(schedules, fc.nat(), (actions, seed) => play(actions, seed))
  // Few, to save time: `pnpm fuzz` tries others.
  await expect(fc.assert(holds, { numRuns: 20 })).resolves.toBeUndefined()
})
