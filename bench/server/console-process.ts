/**
 * A matchmaker with or without a console, in a process of its own, whose servers start at once. On a message, it
 * accepts tickets for some seconds, and answers with the CPU time that it has used.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@muster/core/http'
import { defineQueue, type Matchmaker } from '@muster/matchmaker'
import { createConsole } from '@muster/server/internal'
import { createServedMatchmaker } from '../matchmaker/services.js'
import { createSampler } from '../matchmaker/workload.js'

export interface ConsoleLoad {
  readonly perSecond: number
  readonly seconds: number
}

export interface ConsoleCost {
  /** Percentage of a core, including the work that remained after the last ticket had come. */
  readonly percentOfACore: number
  readonly created: number
  readonly assigned: number
}

/** The first message of a process with a console. */
export interface Listening {
  readonly port: number
}

/** The rules are so loose that nearly all players are matched within a second. The console records all that happens. */
const duel = defineQueue({
  name: 'duel',
  matchSize: 2,
  rules: [
    { kind: 'distance', maxKm: { from: 1000, to: 20_000, overMs: 1000 } },
    { kind: 'difference', attribute: 'skill', max: { from: 100, to: 3000, overMs: 1000 } },
  ],
  deploy: { application: 'game', version: '1' },
})

/** Number of parts per second in which tickets come. */
const PARTS_PER_SECOND = 20
/** Maximum milliseconds for the last tickets to get a server, and the share of all tickets that is enough. */
const SETTLE_MS = 3000
const ENOUGH = 0.99

const matchmaker = createServedMatchmaker({
  queues: [duel],
  maxCreatesInFlight: 10_000,
  readsPerSecond: 100_000,
})
let assigned = 0
matchmaker.on('serverAssigned', ({ tickets }) => void (assigned += tickets.length))
const taking = process.argv[2] === 'console' ? await withConsole(matchmaker) : matchmaker
if (taking === matchmaker) process.send?.({ port: 0 } satisfies Listening)
matchmaker.start()

/** Wraps the matchmaker so that a console records it. The feed is followed over HTTP. */
async function withConsole(plain: Matchmaker): Promise<Matchmaker> {
  const muster = createConsole({
    matchmaker: plain,
    name: 'bench',
    version: '1',
    store: 'memory',
    queues: () => [duel],
    operatorOf: () => ({ who: 'bench', role: 'look' }),
    acted: () => {},
    spending: () => ({ maxServers: 100_000, maxCreatesPerMinute: 1_000_000, pricePerMinute: 0.01, currency: 'EUR' }),
  })
  const server = createServer(nodeListener(muster.handle))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies Listening)
  return muster.recording(plain)
}

const sample = createSampler(5)
let players = 0
function take(tickets: number): void {
  for (let nth = 0; nth < tickets; nth += 1) {
    const { latitude, longitude, skill: rating } = sample()
    players += 1
    const player = { id: `player-${players}`, coordinates: { latitude, longitude }, attributes: { skill: rating } }
    taking.createTicket({ queue: 'duel', players: [player] })
  }
}

const sleepUntil = (time: number) => new Promise((resolve) => setTimeout(resolve, time - performance.now()))

async function costOf({ perSecond, seconds }: ConsoleLoad): Promise<ConsoleCost> {
  const before = { cpu: process.cpuUsage(), assigned }
  const begun = performance.now()
  const parts = seconds * PARTS_PER_SECOND
  for (let part = 0; part < parts; part += 1) {
    take(perSecond / PARTS_PER_SECOND)
    await sleepUntil(begun + ((part + 1) * 1000) / PARTS_PER_SECOND)
  }
  const settled = performance.now() + SETTLE_MS
  while (assigned - before.assigned < perSecond * seconds * ENOUGH && performance.now() < settled)
    await sleepUntil(performance.now() + 1000 / PARTS_PER_SECOND)
  const { user, system } = process.cpuUsage(before.cpu)
  return {
    percentOfACore: (user + system) / 1e4 / seconds,
    created: perSecond * seconds,
    assigned: assigned - before.assigned,
  }
}

process.on('message', (load: ConsoleLoad) => void costOf(load).then((cost) => process.send?.(cost)))
process.on('disconnect', () => process.exit())
