/**
 * What would other rules have done? An evening of duels is recorded, here on a manual clock. It is replayed with a
 * queue that lets waiting players meet players of other levels.
 */
import assert from 'node:assert/strict'
import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import {
  createMatchmaker,
  recordTickets,
  replayTickets,
  type QueueDefinition,
  type ReplaySummary,
} from '@muster/matchmaker'

const skill = { kind: 'difference', attribute: 'skill', max: 50 } as const
const deploy = { application: 'my-game', version: '1.0' }
const strict: QueueDefinition = { name: 'duel', matchSize: 2, rules: [skill], expireAfterMs: 60_000, deploy }
const patient: QueueDefinition = {
  ...strict,
  rules: [{ ...skill, max: { from: 50, to: 400, startMs: 10_000, overMs: 30_000 } }],
}

const clock = createManualClock()
const emulator = createEmulator({ clock })
const client = createClient({
  baseUrl: 'http://service.invalid',
  token: 'dev',
  clock,
  dispatcher: inProcess(emulator.fetch),
})
await clock.until(client.applications.create({ name: 'my-game' }))
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await clock.until(
  client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports }),
)

// In production, `write` appends to a file.
const lines: string[] = []
const plain = createMatchmaker({ deployments: client.deployments, queues: [strict], clock })
const matchmaker = recordTickets(plain, (line) => lines.push(line), { queues: [strict], clock })
matchmaker.on('serverAssigned', ({ matchId }) => void matchmaker.stopMatch(matchId))
matchmaker.start()

const random = seededRandom(1)
for (let number = 0; number < 100; number += 1) {
  const level = 1000 + 400 * (random() + random() + random())
  const attributes = { skill: Math.round(level) }
  const coordinates = { latitude: 50, longitude: 10 }
  matchmaker.createTicket({ queue: 'duel', players: [{ id: `player-${number}`, coordinates, attributes }] })
  await clock.advance(6000 * random())
}
await clock.advance(120_000)
await clock.until(matchmaker.close())
await client.close()
await emulator.close()

function tell(name: string, { matchedShare, waitMs, quality }: ReplaySummary) {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  console.log(`${name}: ${Math.round(100 * matchedShare)} % of the players found a match`)
  console.log(`  half of them within ${seconds(waitMs.p50)}, nine in ten within ${seconds(waitMs.p90)}`)
  console.log(`  in nine of ten matches, levels differ by ${quality.difference['skill']?.p90} at most`)
}
const asItWas = await replayTickets(lines)
const asItCouldBe = await replayTickets(lines, { queues: [patient] })
tell('as it was', asItWas.summary)
tell('with patience', asItCouldBe.summary)
assert(asItCouldBe.summary.matchedShare > asItWas.summary.matchedShare)
