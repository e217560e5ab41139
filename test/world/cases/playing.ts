import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, type QueueDefinition } from '@muster/matchmaker'
import { publishGame } from '../../matchmaker/game.js'

/** Starts a matchmaker with one queue on a manual clock, over an emulator in this process. */
export async function playing(queue: Omit<QueueDefinition, 'name' | 'deploy'>) {
  const clock = createManualClock()
  const emulator = createEmulator({ clock, limits: false })
  const client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'dev',
    clock,
    dispatcher: inProcess(emulator.fetch),
  })
  await clock.until(publishGame(client))
  const deploy = { application: 'game', version: '1' }
  const queues = [{ name: 'quick', deploy, ...queue } as QueueDefinition]
  const random = seededRandom(1)
  const matchmaker = createMatchmaker({ deployments: client.deployments, queues, clock, random })
  matchmaker.start()
  return {
    matchmaker,
    join: (...ids: readonly string[]) => {
      for (const id of ids) matchmaker.createTicket({ id, queue: 'quick', players: [{ id, ip: '198.51.100.7' }] })
    },
    /** Advances the clock in steps of a quarter of a second. */
    run: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) await clock.advance(250)
    },
    matchOf: (id: string) => matchmaker.getTicket(id)?.matchId,
    close: async () => {
      await clock.until(matchmaker.close({ stopServers: true }))
      await clock.until(client.close())
      await emulator.close()
    },
  }
}
