import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator } from '@muster/emulator'
import { publishGame } from '../game.js'

/** A service on a manual clock, which many schedules use one after another. */
export interface Ground {
  readonly clock: ManualClock
  readonly emulator: Emulator
  /** Takes webhooks for the schedule that is running. */
  webhooks: (request: Request) => Promise<Response>
  /** Makes the service's ids and draws those of this seed, so that a schedule runs the same on a used ground. */
  readonly seeded: (seed: number) => void
}

/** Durations of a deployment and of the list's lag, in milliseconds. */
const kinds = [
  { deployMs: 500, listLagMs: 0 },
  { deployMs: 1500, listLagMs: 400 },
  { deployMs: 3000, listLagMs: 900 },
] as const

export const LIST_LAG_MS = 1000
const grounds = new Map<number, Promise<Ground>>()

/** The ground of a seed. */
export async function groundFor(seed: number): Promise<Ground> {
  const index = seed % kinds.length
  const preparing = grounds.get(index) ?? prepare(kinds[index] ?? kinds[0])
  grounds.set(index, preparing)
  const ground = await preparing
  ground.seeded(seed)
  return ground
}

async function prepare({ deployMs, listLagMs }: (typeof kinds)[number]): Promise<Ground> {
  const clock = createManualClock()
  let random = seededRandom(1)
  const emulator = createEmulator({
    clock,
    random: () => random(),
    page: false,
    limits: false,
    deployTimes: { seekMs: 100, deployMs, cachedDeployMs: deployMs, terminateMs: 300, spread: 0 },
    // Longer than a schedule.
    deployments: { listLagMs, retentionMs: 60_000 },
    fetch: async (url, init) => ground.webhooks(new Request(url, init)),
  })
  const ground: Ground = {
    clock,
    emulator,
    webhooks: async () => new Response(null, { status: 404 }),
    seeded: (seed) => {
      random = seededRandom(seed * 6271 + 5)
    },
  }
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock,
    random: seededRandom(1),
    dispatcher: inProcess((request) => emulator.fetch(request)),
  })
  // A deployment that never becomes READY ends in error, and then as it was asked to.
  await clock.until(publishGame(client, 15))
  await client.close()
  return ground
}
