/**
 * Measures whether estimated waits are right while the load changes. Each ticket's estimate is read when the ticket is
 * created, and compared with its actual wait. The whole matchmaker runs, over hours of virtual time.
 */
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import type { Matchmaker, QueueDefinition, WaitEstimate } from '@muster/matchmaker'
import { atLeast, atMost, type Figures } from '../figure.js'
import { createServedMatchmaker } from './services.js'
import { drawPlayers, ranked, SCENES, type Region, type WaitScene } from './waits-workload.js'

/**
 * Share of tickets that give up, and their mean patience in milliseconds. It is unknown how long they would have
 * waited.
 */
const GIVE_UP = { share: 0.15, afterMs: 60_000 }

/** A ticket that does not give up. */
interface Observed {
  readonly region: Region
  readonly size: number
  readonly estimate: WaitEstimate | undefined
  readonly createdAt: number
  /** Milliseconds of waiting; Infinity if the ticket expired. */
  waitedMs: number
}

export async function waitFigures(): Promise<Figures> {
  const figures: Figures['figures'][number][] = []
  const peers: Record<string, unknown> = {}
  for (const scene of SCENES) {
    const tickets = await play(scene)
    const name = `waits: ${scene.what}`
    const { within50, within90, unknown } = shares(tickets)
    figures.push(
      atLeast(`${name}: tickets matched within their p50, at least`, within50, 45, '%'),
      atMost(`${name}: tickets matched within their p50, at most`, within50, 55, '%'),
      atLeast(`${name}: tickets matched within their p90, at least`, within90, 85, '%'),
      atMost(`${name}: tickets matched within their p90, at most`, within90, 95, '%'),
      atMost(`${name}: tickets of unknown wait`, unknown, 2, '%'),
    )
    const sizes = [1, 2, 3, 4, 5].map((size) => tickets.filter((ticket) => ticket.size === size))
    peers[name] = {
      all: shares(tickets),
      west: shares(tickets.filter(({ region }) => region === 'west')),
      east: shares(tickets.filter(({ region }) => region === 'east')),
      'by size of party': sizes.filter(({ length }) => length > 0).map(shares),
    }
  }
  figures.push(atMost('waits: an estimate, asked of each of 50,000 who wait', await costOfAsking(), 3, 'µs of CPU'))
  return { figures, peers }
}

function shares(tickets: readonly Observed[]) {
  const known = tickets.filter(({ estimate }) => estimate !== undefined)
  const known90 = known.filter(({ estimate }) => estimate?.p90Ms !== undefined)
  const percent = (part: number, of: number) => Number(((100 * part) / of).toFixed(1))
  const within50 = known.filter(({ estimate, waitedMs }) => waitedMs <= (estimate?.p50Ms ?? 0)).length
  const within90 = known90.filter(({ estimate, waitedMs }) => waitedMs <= (estimate?.p90Ms ?? 0)).length
  const waits = tickets.map(({ waitedMs }) => waitedMs).toSorted((one, other) => one - other)
  const seconds = (share: number) => Math.round((waits[Math.floor(share * waits.length)] ?? Number.NaN) / 100) / 10
  return {
    tickets: tickets.length,
    within50: percent(within50, known.length),
    within90: percent(within90, known90.length),
    unknown: percent(tickets.length - known.length, tickets.length),
    'p90 alone unknown': percent(known.length - known90.length, tickets.length),
    'they waited, p50 and p90 in seconds': [seconds(0.5), seconds(0.9)],
  }
}

function setUp(queue: QueueDefinition): { readonly matchmaker: Matchmaker; readonly clock: ManualClock } {
  const clock = createManualClock()
  const matchmaker = createServedMatchmaker({
    queues: [queue],
    clock,
    random: seededRandom(1),
    // The stopwatch is constant, so that no round is ended early, however slow the machine is.
    stopwatch: () => 0,
    endedTicketTtlMs: 0,
  })
  return { matchmaker, clock }
}

/** Runs the arrivals. Returns the tickets that did not give up, once all of them were matched or have expired. */
async function play({ queue, hours, load, parties, counts = () => true }: WaitScene): Promise<Observed[]> {
  const { matchmaker, clock } = setUp(queue)
  const random = seededRandom(2)
  const open = new Map<string, Observed>()
  const ended: Observed[] = []
  const end = (id: string, waitedMs: (createdAt: number) => number) => {
    const ticket = open.get(id)
    open.delete(id)
    if (ticket !== undefined) ended.push(Object.assign(ticket, { waitedMs: waitedMs(ticket.createdAt) }))
  }
  matchmaker.on('matchFound', ({ tickets }) => {
    for (const { id } of tickets) end(id, (createdAt) => clock.now() - createdAt)
  })
  matchmaker.on('expired', ({ ticket }) => end(ticket.id, () => Infinity))
  matchmaker.start()

  const start = clock.now()
  let came = 0
  const come = (region: Region) => {
    came += 1
    const players = drawPlayers(random, region, came, parties)
    const { id, createdAt } = matchmaker.createTicket({ queue: queue.name, players })
    if (random() < GIVE_UP.share) {
      const patience = -Math.log(1 - random()) * GIVE_UP.afterMs
      void clock.sleep(patience).then(() => {
        if (matchmaker.getTicket(id)?.status === 'SEARCHING') matchmaker.cancelTicket(id)
      })
    } else if (counts((createdAt - start) / 1000)) {
      const estimate = matchmaker.estimateWait(id)
      open.set(id, { region, size: players.length, estimate, createdAt, waitedMs: Infinity })
    }
  }
  const arriving = new Set<Region>(['west', 'east'])
  const arrive = async (region: Region) => {
    const elapsedS = () => (clock.now() - start) / 1000
    while (elapsedS() < hours * 3600) {
      const wait = -Math.log(1 - random()) / load(elapsedS(), region)
      await clock.sleep(wait * 1000)
      come(region)
    }
    arriving.delete(region)
  }
  for (const region of arriving) void arrive(region)
  while (arriving.size + open.size > 0) await clock.advance(1000)
  await clock.until(matchmaker.stop())
  return ended
}

const WAITING = 50_000
const ROUNDS = 6

/** Returns the CPU microseconds of an estimate in each second, if all waiting players request one per second. */
async function costOfAsking(): Promise<number[]> {
  const { matchmaker, clock } = setUp({ ...ranked, name: 'ranked' })
  const random = seededRandom(3)
  const ids: string[] = []
  for (let ticket = 0; ticket < WAITING; ticket += 1) {
    const players = drawPlayers(random, ticket % 2 === 0 ? 'west' : 'east', ticket, true)
    ids.push(matchmaker.createTicket({ queue: 'ranked', players }).id)
  }
  await matchmaker.tick()
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await clock.advance(1000)
    const before = process.cpuUsage()
    for (const id of ids) matchmaker.estimateWait(id)
    const { user, system } = process.cpuUsage(before)
    // The first round only warms up the compiler.
    if (round > 0) costs.push((user + system) / WAITING)
  }
  return costs
}
