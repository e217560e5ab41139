/** Simulates game servers of a pool in a partition whose processes end, are suspended and lose responses. */
import { seededRandom } from '@muster/core/clock'
import { MusterError } from '@muster/core'
import { type PoolDefinition, ServerGone, ServerNotRegistered } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { createWorld, type Process, type Server } from './world.fixture.js'

/** `SIMULATIONS=1000 SIMULATION_SEED=7` runs other seeds and more of them. */
const SEEDS = Number(process.env['SIMULATIONS'] ?? 2)
const FIRST = Number(process.env['SIMULATION_SEED'] ?? 1)

const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  reuse: { maxMatches: 5 },
  at: [{ cron: '* * * * *', minutes: 2, min: 2 }],
}

/** A game server's process. It plays each match for some seconds, and then reports that the match is over. */
interface Game {
  readonly server: Server
  readonly token: string
  seq: number
  version: number | undefined
  isBusy: boolean
  isGone: boolean
  readonly matches: Map<string, { readonly until: number; status: 'open' | 'over' }>
}

async function simulate(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]
  const world = createWorld({ queues, pools: [arena], orphanGraceMs: 20_000, endedTicketTtlMs: 3_600_000 })
  const { service, partition, pass, player, clock } = world
  service.travelMs = () => 1 + below(20)
  service.fault = () => (random() < 0.02 ? (random() < 0.5 ? 'answer' : 'call') : undefined)
  const lossy = { share: 0.02 }
  const begin = () => world.beginLossy(random, lossy)
  const alive: Process[] = [begin(), begin(), begin()]
  const paused: Process[] = []
  const any = () => alive[below(alive.length)] as Process
  const broken: string[] = []

  const games = new Map<string, Game>()
  /** Matches that their server has reported as over, or whose server has crashed. */
  const over = new Set<string>()

  const report = async (game: Game, by: Process): Promise<void> => {
    const { token, matches } = game
    const instance = token.slice(0, 16)
    game.isBusy = true
    try {
      game.version ??= (await by.registerServer(token, { instance, matches: 1 })).version
      game.seq += 1
      const said = [...matches].map(([id, { status }]) => ({ id, status, players: {} }))
      const state = { instance, seq: game.seq, healthy: true, draining: false, matches: said }
      // A request that is lost, or repeated on the way.
      if (random() < 0.05) return
      if (random() < 0.05) void by.reportServer(token, state).catch(() => {})
      let orders = await by.reportServer(token, state)
      if (orders.version === game.version)
        orders = await by.waitForServerOrders(token, { version: game.version, waitMs: 1000 + below(4000) })
      game.version = orders.version
      const listed = new Set(orders.matches.map(({ id }) => id))
      if (listed.size > 1) broken.push(`${game.server.id} is to serve ${[...listed].join(' and ')}`)
      for (const id of matches.keys()) if (!listed.has(id)) matches.delete(id)
      for (const id of listed)
        if (!matches.has(id)) matches.set(id, { until: clock.now() + 3000 + below(15_000), status: 'open' })
    } catch (error) {
      if (error instanceof ServerNotRegistered) game.version = undefined
      else if (error instanceof ServerGone) game.isGone = true
      else if (!(error instanceof MusterError)) broken.push(`${game.server.id}: ${String(error)}`)
    } finally {
      game.isBusy = false
    }
  }
  const play = () => {
    for (const server of service.running()) {
      if (clock.now() - server.createdAt < 1200 || server.failedAt !== undefined) continue
      const token = server.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
      const game = games.get(server.id) ?? {
        server,
        token,
        seq: 0,
        version: undefined,
        isBusy: false,
        isGone: false,
        matches: new Map(),
      }
      games.set(server.id, game)
      for (const [id, match] of game.matches) {
        if (clock.now() < match.until) continue
        match.status = 'over'
        over.add(id)
      }
      if (!game.isBusy && !game.isGone) void report(game, any())
    }
  }

  /** Checks the invariants that must hold at any time for stored data, and so for what players see. */
  const look = async (by: Process) => {
    const places = new Map<string, string>()
    const matchOn = new Map<string, string>()
    for (const id of partition.tickets.keys()) {
      const ticket = await by.getTicket(id).catch(() => undefined)
      if (ticket?.status !== 'HOST_ASSIGNED' || ticket.ended !== undefined) {
        const { ended, matchId = '' } = ticket ?? {}
        if (ended !== undefined && !over.has(matchId))
          broken.push(`${matchId} ended as ${ended.reason}, by nobody's word`)
        continue
      }
      const { matchId = '', assignment, players } = ticket
      for (const one of players) {
        const before = places.get(one.id)
        if (before !== undefined) broken.push(`${one.id} plays in ${before} and in ${matchId}`)
        places.set(one.id, matchId)
      }
      const other = matchOn.get(assignment?.fqdn ?? '')
      if (other !== undefined && other !== matchId) broken.push(`${assignment?.fqdn} has ${other} and ${matchId}`)
      matchOn.set(assignment?.fqdn ?? '', matchId)
    }
    return matchOn
  }

  let made = 0
  const join = (id: string) => {
    made += 1
    void any()
      .createTicket({ id: `t${made}`, queue: 'duel', players: [player(id)] })
      .catch(() => {})
  }
  const remove = (one: Process) => alive.splice(alive.indexOf(one), 1)
  for (let round = 0; round < 200; round += 1) {
    if (random() < 0.6) join(`player ${below(14)}`)
    play()
    const leader = alive.find((one) => one.leads())
    const chance = random()
    const victim = random() < 0.7 && leader !== undefined ? leader : any()
    if (chance < 0.04) {
      victim.pause()
      remove(victim)
      if (random() < 0.5) paused.push(victim)
      alive.push(begin())
    } else if (chance < 0.06) {
      remove(victim)
      void victim.close()
      alive.push(begin())
    } else if (chance < 0.15 && paused.length > 0) {
      const back = paused.shift() as Process
      back.resume()
      alive.push(back)
    } else if (chance < 0.17) {
      const [crashed] = service.running().filter((one) => one.failedAt === undefined && random() < 0.5)
      if (crashed !== undefined) {
        crashed.failedAt = clock.now()
        for (const id of games.get(crashed.id)?.matches.keys() ?? []) over.add(id)
        // Include a match that was assigned to the server and that the server did not know yet.
        for (const { matchId, assignment } of await assigned(any())) if (assignment === crashed.id) over.add(matchId)
      }
    }
    await pass(50 + below(300), 25)
    if (round % 40 === 39) await look(any())
  }
  for (const one of paused) one.resume()
  alive.push(...paused)
  lossy.share = 0
  service.fault = () => undefined
  for (let second = 0; second < 120; second += 1) {
    play()
    await pass(1000, 100)
  }

  const last = alive.find((one) => one.leads()) ?? any()
  const matchOn = await look(last)
  const running = new Set(service.running().map(({ id }) => `${id}.example.com`))
  for (const fqdn of matchOn.keys()) if (!running.has(fqdn)) broken.push(`a match is on ${fqdn}, which is gone`)
  // Two servers are warm and each match has one. A few more may be starting or stopping.
  if (running.size > matchOn.size + 4) broken.push(`${running.size} servers run for ${matchOn.size} matches`)
  if (running.size < 2) broken.push('no server is warm')
  for (const { server, isGone } of games.values())
    if (isGone && server.stoppedAt === undefined) broken.push(`${server.id} was sent away, and runs`)
  if (over.size < 15) broken.push(`only ${over.size} matches were played`)
  if (alive.filter((one) => one.leads()).length !== 1) broken.push('not one process leads')
  await Promise.all(alive.map((one) => clock.until(one.close(), 50)))
  return broken

  async function assigned(by: Process) {
    const found: { matchId: string; assignment: string }[] = []
    for (const id of partition.tickets.keys()) {
      const ticket = await by.getTicket(id).catch(() => undefined)
      if (ticket?.matchId !== undefined && ticket.assignment !== undefined)
        found.push({ matchId: ticket.matchId, assignment: ticket.assignment.fqdn.replace('.example.com', '') })
    }
    return found
  }
}

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST + index))(
  'no player is in two matches and no server is lost when processes and servers end (seed %i)',
  async (seed) => {
    expect(await simulate(seed)).toEqual([])
  },
)
