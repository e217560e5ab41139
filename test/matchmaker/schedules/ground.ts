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
}

/**
 * Durations of a deployment and of the list's lag, in milliseconds. A ground has no random part, so a schedule runs the
 * same on a used one.
 */
const kinds = [
  { deployMs: 500, listLagMs: 0 },
  { deployMs: 1500, listLagMs: 400 },
  { deployMs: 3000, listLagMs: 900 },
] as const

export const LIST_LAG_MS = 1000
const grounds = new Map<number, Promise<Ground>>()

/** The ground of a seed. */
export function groundFor(seed: number): Promise<Ground> {
  const index = seed % kinds.length
  const ground = grounds.get(index) ?? prepare(kinds[index] ?? kinds[0])
  grounds.set(index, ground)
  return ground
}

async function prepare({ deployMs, listLagMs }: (typeof kinds)[number]): Promise<Ground> {
  const clock = createManualClock()
  const emulator = createEmulator({
    clock,
    page: false,
    limits: false,
    deployTimes: { seekMs: 100, deployMs, cachedDeployMs: deployMs, terminateMs: 300, spread: 0 },
    // Longer than a schedule.
    deployments: { listLagMs, retentionMs: 60_000 },
    fetch: async (url, init) => ground.webhooks(new Request(url, init)),
  })
  const ground: Ground = { clock, emulator, webhooks: async () => new Response(null, { status: 404 }) }
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock,
    random: seededRandom(1),
    dispatcher: inProcess((request) => emulator.fetch(request)),
  })
  // A deployment that never becomes READY ends in error, and then as it was asked to.
  await clock.until(publishGame(client, 12))
  await client.close()
  return ground
}
