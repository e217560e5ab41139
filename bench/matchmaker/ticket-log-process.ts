import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, seededRandom, systemClock } from '@muster/core/clock'
import { createMatchmaker, openStore, type Matchmaker } from '@muster/matchmaker'
import { median } from '../figure.js'
import { cpuMs, watchLoop } from './event-loop.js'
import { createAnsweringService, unansweringService } from './services.js'

/** Nanoseconds of CPU time for each ticket, round by round: without and with the log. */
export interface Cost {
  readonly plain: readonly number[]
  readonly logged: readonly number[]
}

export interface LogCosts {
  readonly create: Cost
  readonly life: Cost
  readonly loadMs: readonly number[]
  readonly heldMs: readonly number[]
  readonly found: Readonly<Record<string, unknown>>
}

const ROUNDS = 9
const CREATES = 20_000
const LIVES = 4000
const WAITING = 100_000

const deploy = { application: 'game', version: '1' }
/** A queue in which no ticket is matched, because matching is measured elsewhere. */
const lonely = { name: 'ranked', matchSize: 500, deploy }
const duel = { name: 'duel', matchSize: 2, deploy }

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-log-'))
let files = 0
const newPath = () => join(folder, `log-${files++}`)

let players = 0
/** Returns a ticket with as much data about its player as games usually have. */
const ticketFor = (queue: string) => {
  players += 1
  const attributes = { skill: 1500 + (players % 700), maps: ['dust', 'mirage'], platform: 'pc' }
  const coordinates = { latitude: 40 + (players % 100) / 10, longitude: 10 + (players % 200) / 10 }
  return { queue, players: [{ id: `player-${players}`, ip: '198.51.100.7', coordinates, attributes }] }
}

const collect = () => globalThis.gc?.()

/** Returns the CPU nanoseconds of some work: of this process, its threads, and the kernel. */
async function cpuOf(work: () => void | Promise<void>): Promise<number> {
  collect()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1000
}

const create = (matchmaker: Matchmaker) => () => {
  for (let nth = 0; nth < CREATES; nth += 1) matchmaker.createTicket(ticketFor('ranked'))
}

async function createCost(isLogged: boolean): Promise<number> {
  const log = isLogged ? await openStore({ path: newPath() }) : undefined
  const matchmaker = createMatchmaker({ deployments: unansweringService, queues: [lonely], store: log })
  const cpu = await cpuOf(create(matchmaker))
  await matchmaker.close({ handOver: isLogged })
  return cpu / CREATES
}

async function lifeCost(isLogged: boolean): Promise<number> {
  const clock = createManualClock()
  const { service, onReady } = createAnsweringService()
  const log = isLogged ? await openStore({ path: newPath(), clock }) : undefined
  const bounds = { maxServers: Infinity, maxStarting: Infinity, maxCreatesInFlight: LIVES }
  const options = { deployments: service, queues: [duel], clock, random: seededRandom(1), ...bounds }
  const matchmaker = createMatchmaker({ ...options, store: log })
  onReady((requestId) => matchmaker.hint(requestId))
  const assigned = new Set<string>()
  matchmaker.on('serverAssigned', ({ tickets }) => tickets.forEach(({ id }) => assigned.add(id)))
  const cpu = await cpuOf(async () => {
    for (let nth = 0; nth < LIVES; nth += 1) matchmaker.createTicket(ticketFor('duel'))
    const deadline = clock.now() + 2_000_000
    while (assigned.size < LIVES && clock.now() < deadline) {
      await matchmaker.tick()
      await clock.advance(1000)
    }
  })
  if (assigned.size < LIVES) throw new Error(`only ${assigned.size} of ${LIVES} tickets were assigned`)
  await matchmaker.stop()
  await log?.close()
  return cpu / LIVES
}

/** Measures both variants in turns, so that both find the machine in the same state. */
async function inTurn(cost: (isLogged: boolean) => Promise<number>): Promise<Cost> {
  const plain: number[] = []
  const logged: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(await cost(false))
    logged.push(await cost(true))
  }
  return { plain, logged }
}

const options = { deployments: unansweringService, queues: [lonely] }

/** Creates the file of a process with many waiting tickets, and returns its path. */
async function crowd(): Promise<string> {
  const path = newPath()
  const first = createMatchmaker({ ...options, store: await openStore({ path, clock: systemClock }) })
  for (let nth = 0; nth < WAITING; nth += 1) first.createTicket(ticketFor('ranked'))
  await first.close()
  return path
}

/** Opens the file like the next process, and rewrites it. */
async function goOn(path: string) {
  collect()
  const before = cpuMs()
  const log = await openStore({ path, compactAtBytes: 1 })
  const next = createMatchmaker({ ...options, store: log })
  const last = next.createTicket(ticketFor('ranked'))
  const loadMs = cpuMs() - before
  if (next.longestWaiting(1).total !== WAITING + 1) throw new Error('tickets were lost')

  collect()
  const rewrittenAt = cpuMs()
  const longestTurn = watchLoop()
  await log.advance()
  const heldMs = longestTurn()
  const megabytes = statSync(path).size / 1e6
  const rewrittenMs = cpuMs() - rewrittenAt
  next.cancelTicket(last.id)
  await next.close()
  return { loadMs, heldMs, rewrittenMs, megabytes }
}

async function crowdCosts() {
  const path = await crowd()
  const all: Awaited<ReturnType<typeof goOn>>[] = []
  for (let round = 0; round < 3; round += 1) all.push(await goOn(path))
  const of = (name: keyof (typeof all)[number]) => all.map((one) => one[name])
  const found = {
    'ms of CPU to rewrite 100,000 tickets': Math.round(median(of('rewrittenMs'))),
    'megabytes of 100,000 tickets': Math.round(median(of('megabytes')) * 10) / 10,
  }
  return { loadMs: of('loadMs'), heldMs: of('heldMs'), found }
}

try {
  const [costs, life, of] = [await inTurn(createCost), await inTurn(lifeCost), await crowdCosts()]
  process.send?.({ create: costs, life, ...of } satisfies LogCosts)
} finally {
  rmSync(folder, { recursive: true })
  process.disconnect()
}
