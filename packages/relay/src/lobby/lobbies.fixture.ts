import { createManualClock, seededRandom } from '@muster/core/clock'
import { createFakeService, type FakeServiceOptions } from '../fake-service.fixture.js'
import { createRelaySessions } from '../sessions/sessions.js'
import { within } from '../within.fixture.js'
import { LobbyRefused } from '../errors.js'
import { createLobbies } from './create-lobbies.js'
import type { Lobbies } from './lobbies.js'
import type { LobbiesOptions } from './lobby-options.js'
import type { RunView } from './view.js'

export const player = (id: string, ip = '192.0.2.1') => ({ id, ip })

export const failing = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

/** Lobbies over a service in memory, on a manual clock. */
export function setUp({
  service: serviceOptions,
  ...options
}: LobbiesOptions & { service?: Partial<FakeServiceOptions> } = {}) {
  const clock = createManualClock()
  const random = seededRandom(11)
  const randomInt = (max: number) => Math.floor(random() * max)
  const service = createFakeService({ clock, random, ...serviceOptions })
  const relay = createRelaySessions({ client: service, clock, randomInt })
  const lobbies = createLobbies({ relay, clock, randomInt, ...options })
  return {
    clock,
    service,
    relay,
    lobbies,
    within: <T>(promise: Promise<T>) => within(clock, promise),
    /** Closes everything and returns the remaining sessions of the service. */
    tearDown: async () => {
      await within(clock, lobbies.close())
      await within(clock, relay.close())
      return service.open
    },
  }
}

/** Returns the credentials of a member's run; throws if there are none. */
async function credentialsOf(lobbies: Lobbies, lobbyId: string, playerId: string) {
  const run: RunView | null = (await lobbies.get({ lobbyId, playerId })).run
  if (run?.status !== 'relayed' || run.credentials === null) throw new Error(`${playerId} has no credentials`)
  return run.credentials
}

export const ann = player('ann')
export const bob = player('bob', '::ffff:192.0.2.1')
export const cleo = player('cleo', '198.51.100.7')

export const codeOf = (error: unknown) => (error instanceof LobbyRefused ? error.code : error)

export async function withThree(options: Parameters<typeof setUp>[0] = {}, more: object = {}) {
  const all = setUp(options)
  const { lobbyId, code } = await all.lobbies.create({ player: ann, maxPlayers: 4, requireReady: false, ...more })
  await all.lobbies.join({ player: bob, code })
  await all.lobbies.join({ player: cleo, code })
  const start = async () => {
    await all.lobbies.start({ lobbyId, playerId: 'ann' })
    await all.clock.advance(2000)
  }
  return {
    ...all,
    lobbyId,
    code,
    start,
    credentials: (playerId: string) => credentialsOf(all.lobbies, lobbyId, playerId),
  }
}
