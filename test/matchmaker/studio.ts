import { createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { createEmulator, type EmulatorOptions } from '@muster/emulator'
import { createMatchmaker, type MatchmakerOptions, type QueueDefinition } from '@muster/matchmaker'
import { publishGame } from './game.js'

const deploy = { application: 'game', version: '1', readyTimeoutMs: 4000 }
export const duel = { name: 'duel', matchSize: 2, deploy } satisfies QueueDefinition

/** Waits in real time until a condition holds. */
export async function until(what: string, isSo: () => boolean, timeoutMs = 45_000): Promise<void> {
  const deadline = systemClock.now() + timeoutMs
  while (!isSo()) {
    if (systemClock.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await systemClock.sleep(10)
  }
}

/**
 * Starts a service on a port at fifty times its speed, with its documented rate limits, a client of it, and a
 * matchmaker.
 */
export async function openStudio(
  given: {
    readonly emulator?: EmulatorOptions
    readonly matchmaker?: Partial<MatchmakerOptions>
    readonly seed?: number
  } = {},
) {
  const { seed = 1 } = given
  const emulator = createEmulator({ speed: 50, random: seededRandom(seed), ...given.emulator, faults: [] })
  const { url } = await emulator.listen()
  const client = createClient({
    baseUrl: url,
    token: 'dev',
    random: seededRandom(seed + 1),
    settings: emulator.settings,
  })
  await publishGame(client)
  for (const fault of given.emulator?.faults ?? []) emulator.faults.add(fault)
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [duel],
    tickMs: 50,
    listLagMs: 800,
    random: seededRandom(seed + 2),
    ...given.matchmaker,
  })
  matchmaker.start()

  const deployments = () => emulator.inspect().deployments
  const alive = () => deployments().filter((one) => one.current_status !== 'Status.TERMINATED')
  const ticket = (id: string) => matchmaker.getTicket(id)
  return {
    emulator,
    client,
    matchmaker,
    deployments,
    ticket,
    join: (...players: string[]) =>
      matchmaker.createTicket({
        id: players.join('-'),
        queue: 'duel',
        players: players.map((id, index) => ({ id, ip: `192.0.2.${index + 1}` })),
      }),
    hasServer: (id: string) => until(`${id} has a server`, () => ticket(id)?.status === 'HOST_ASSIGNED'),
    /** Closes everything. Returns the servers that are left. */
    shut: async (): Promise<{
      readonly unsettled: number
      readonly alive: readonly string[]
      readonly rejected: number
    }> => {
      const unsettled = await matchmaker.close({ stopServers: true })
      // The service confirms a stop before the container has ended.
      await until('all servers have ended', () => alive().length === 0, 5000).catch(() => {})
      const left = alive().map(({ request_id }) => request_id)
      const rejected = Object.values(emulator.counters.rejected).reduce((sum, count) => sum + count, 0)
      await client.close()
      await emulator.close()
      return { unsettled: unsettled.length, alive: left, rejected }
    },
  }
}

export const nothingLeft = { unsettled: 0, alive: [], rejected: 0 }
