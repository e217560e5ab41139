import { createManualClock, type ManualClock, type Random, seededRandom } from '@muster/core/clock'
import { type CallFault, createTestService } from '../service.fixture.js'
import { ENROLLED } from '../records/index.js'
import { createTestAllocator } from '../sources/allocator.fixture.js'
import { changedDefinitions, drawDefinitions, MAX_MS } from './definitions.fixture.js'
import type { GameProcess, GameWorld } from './game-process.fixture.js'
import { createLife, type Death } from './life.fixture.js'
import { createMachines, type Machines } from './machines.fixture.js'
import { type Muster, type Mutant, OWN_TAG, recovered, type RunningMuster, startMuster } from './muster.fixture.js'
import { allocatorFault, anyFault, chance, createFault, oneOf } from './random-faults.fixture.js'
import type { OpenStorageOf, TestSources, Ticket } from './storage.fixture.js'
import { createWitness, type Witness } from './witness.fixture.js'

/** The promises that a schedule has broken, in words, and counts of what the schedule did. */
export interface Outcome {
  readonly broken: readonly string[]
  readonly counts: Readonly<Witness['counts']>
}

const STEP_MS = 500
const BAD_MS = 40_000
const CALM_STEP_MS = 2000
/** Milliseconds without faults after which every match has ended. A silent server is stopped after 25 s + 60 s. */
const CALM_MS = 240_000
/** Milliseconds in which the ends of all servers are written to the store. */
const END_MS = 6000
const MOST_SERVERS = 5
const PLAYERS = 6

const between = (random: Random, from: number, to: number) => from + random() * (to - from)

/** Creates a deployment service and an allocator with random faults. */
function createSources(clock: ManualClock, random: Random, isCalm: () => boolean) {
  const badness = { create: oneOf(random, 0, 0, 0.2, 0.5), others: oneOf(random, 0, 0.05, 0.2) }
  const from = random() * BAD_MS
  const storm = chance(random, 0.3) ? [from, from + random() * 15_000] : [0, 0]
  const startedAt = clock.now()
  const isStorm = () => {
    const at = clock.now() - startedAt
    return at >= (storm[0] ?? 0) && at < (storm[1] ?? 0)
  }
  const isSlow = chance(random, 0.4)
  const fault = (isCreate: boolean, ofCreate: () => CallFault) => {
    if (isCalm() || !chance(random, isStorm() ? 0.6 : isCreate ? badness.create : badness.others)) return undefined
    return isCreate ? ofCreate() : anyFault(random)
  }
  const boots = oneOf(random, 1500, 4000, 9000)
  const service = createTestService({
    clock,
    listLagMs: oneOf(random, 0, 1000, 2500),
    latencyMs: () => (isSlow && chance(random, 0.4) ? random() * 400 : 0),
    fault: (method) => fault(method === 'create', () => createFault(random, `r${service.records.length + 1}`)),
    fate: () => {
      const readyMs = between(random, 300, boots)
      if (isCalm() || chance(random, 0.85)) return { readyMs }
      return oneOf(
        random,
        { errorMs: readyMs },
        { readyMs, endMs: readyMs + random() * 30_000 },
        { readyMs, errorMs: readyMs + random() * 30_000 },
        { readyMs: 60_000 },
      )
    },
  })
  const allocator = createTestAllocator({
    clock,
    fault: (call) => fault(call === 'allocate', () => allocatorFault(random)),
  })
  /** Tags of creates for which the service made two deployments and returned only the first. */
  const twinned = new Set<string>()
  const sources: TestSources = {
    service: {
      ...service.deployments,
      create: async (input, options) => {
        const made = await service.deployments.create(input, options)
        if (isCalm() || !chance(random, 0.04)) return made
        for (const tag of input.tags ?? []) twinned.add(tag)
        await service.add(input.tags ?? []).catch(() => {})
        return made
      },
    },
    allocator: allocator.allocator,
  }
  return { service, allocator, sources, twinned }
}

type Sources = ReturnType<typeof createSources>

/** Creates a check that no match has two running servers. */
function createLookForSeconds({ service, twinned }: Sources, witness: Witness) {
  let looked = 0
  return (now: number) => {
    if (looked === service.records.length) return
    looked = service.records.length
    const living = new Map<string, string>()
    for (const { requestId, tags, stopAskedAt, createdAt, fate } of service.records) {
      const isOver =
        stopAskedAt !== undefined || now >= createdAt + Math.min(fate.endMs ?? Infinity, fate.errorMs ?? Infinity)
      const tag = tags.find((one) => one !== OWN_TAG) ?? ''
      if (isOver || twinned.has(tag)) continue
      const match = /^match-([a-z0-9]+)/.exec(tag)?.[1] ?? tag
      const other = living.get(match)
      if (other !== undefined) witness.broken.add(`${other} and ${requestId} run for ${match}`)
      living.set(match, requestId)
    }
  }
}

export async function runSchedule(seed: number, openStorage: OpenStorageOf, mutant: Mutant = {}): Promise<Outcome> {
  const random = seededRandom(seed * 7919 + 3)
  const clock = createManualClock()
  let calm = false
  const isCalm = () => calm
  const storage = openStorage({ clock, random, isCalm })
  const witness = createWitness({ storage, now: () => clock.now(), maxDurationMs: MAX_MS })
  const { broken, counts } = witness
  let definitions = drawDefinitions(random)
  const changes = chance(random, 0.3)
  const sources = createSources(clock, random, isCalm)
  const { service, allocator } = sources
  const maxServers = oneOf(random, 2, MOST_SERVERS, MOST_SERVERS)
  const deathShare = oneOf(random, 0, 0.01, 0.03)
  // A random source of their own, so that suspensions do not change the other faults of a seed.
  const pausing = seededRandom(seed)
  const suspendShare = oneOf(pausing, 0, 0, 0.02)
  const deathWrites = oneOf(random, 5, 20, 60)

  const left = new Set<string>()
  const doubled = new Set<string>()
  let late: { readonly atMs: number; readonly act: () => void }[] = []
  let current: Muster | undefined
  /** Earlier processes that still run, because they have not noticed that another one has taken over. */
  const others: Muster[] = []
  const running = () => current?.running()
  const world: GameWorld = {
    random,
    now: () => clock.now(),
    servers: running,
    isCalm,
    sentTo: witness.sentTo,
    excuse: witness.excuse,
    isExcused: witness.isExcused,
    isDoubled: (requestId) => doubled.has(requestId),
    left,
    broken: (fault) => void broken.add(fault),
    later: (atMs, act) => void late.push({ atMs, act }),
    acknowledged: witness.acknowledged,
    matchMs: () => (chance(random, 0.1) ? 2 * MAX_MS : 4000 + random() * 20_000),
  }
  const machines = createMachines({
    clock,
    random,
    service,
    allocator,
    world,
    doubled,
    machines: oneOf(random, 0, 1, 2),
  })
  const look = createLookForSeconds(sources, witness)

  /** Checks the stored state that a starting process finds. A second takeover of this state must write nothing. */
  const checkFound = async () => {
    const copy = storage.copy()
    const { matches } = await copy.log.open()
    const tickets = new Map(copy.tickets.map((ticket) => [ticket.id, ticket]))
    witness.finds(new Set(matches.map(({ matchId }) => matchId)), tickets, new Set(copy.results))
    if (!chance(random, 0.25)) return
    const life = createLife({ clock, random: seededRandom(seed), death: undefined, died: () => {} })
    const first = recovered(copy, life, definitions)
    const second = recovered({ ...copy, tickets: first.tickets }, life, definitions)
    for (const { kind } of second.entries) broken.add(`a second recovery wrote ${kind}`)
  }
  let downMs = 0
  const begin = async () => {
    if (changes && !calm && chance(random, 0.3)) definitions = changedDefinitions(definitions, random)
    await checkFound()
    const death =
      !calm && chance(random, 0.7)
        ? { at: 1 + Math.floor(random() * deathWrites), how: oneOf<Death>(random, ...storage.deaths) }
        : undefined
    const life = createLife({
      clock,
      random,
      death,
      died: (how) => {
        counts.deaths += 1
        storage.ended(how)
      },
      deposed: () => {
        counts.deposed += 1
        if (current?.life !== life) return
        others.push(current)
        current = undefined
      },
    })
    current = startMuster({ life, storage, sources: sources.sources, definitions, maxServers, witness, mutant })
    if (calm) life.spare()
  }

  let made = 0
  const create = async (muster: RunningMuster) => {
    const name = `p${Math.floor(random() * PLAYERS)}`
    for (const { player, state } of muster.tickets.all())
      if (player === name && state !== 'over' && state !== 'cancelled') return
    made += 1
    const queue = oneOf(random, ...definitions.queues).name
    const ticket: Ticket = { id: `t${made}`, queue, player: name, state: 'searching', version: 1, tries: 0 }
    await muster.create(ticket)
  }
  const command = (muster: RunningMuster) => {
    const what = random()
    const tickets = [...muster.tickets.all()]
    if (what < 0.02 && tickets.length > 0) {
      const { id, player } = oneOf(random, ...tickets)
      if (storage.cancel === undefined) void muster.cancel(id)
      else if (storage.cancel(id, player)) witness.cancelled(id)
    } else if (what < 0.03) {
      const playing = tickets.flatMap(({ state, match }) =>
        state === 'assigned' && match !== undefined ? [match] : [],
      )
      if (playing.length > 0) void muster.stop(oneOf(random, ...playing))
    } else if (what < 0.04) {
      const servers = [...muster.allocator.gameServers()]
      if (servers.length > 0) void muster.drain(oneOf(random, ...servers).id)
    }
  }
  const join = (muster: RunningMuster) => {
    const processes = new Map<string, GameProcess[]>()
    for (const one of machines.processes()) processes.set(one.handle(), [...(processes.get(one.handle()) ?? []), one])
    for (const { player, state, match } of muster.tickets.all()) {
      if (state !== 'assigned' || match === undefined || !chance(random, 0.3)) continue
      for (const one of processes.get(witness.sentTo(match) ?? '') ?? []) {
        one.come(player, match)
        if (chance(random, 0.02)) one.leave(player)
      }
    }
  }

  const step = async (ms: number) => {
    await clock.advance(ms)
    const due = late.filter(({ atMs }) => atMs <= clock.now())
    if (due.length > 0) late = late.filter(({ atMs }) => atMs > clock.now())
    for (const { act } of due) act()
    machines.step(calm ? 1 : 0.4)
    look(clock.now())
    for (const one of others) one.tick()
    current?.tick()
    const muster = running()
    if (muster === undefined) {
      downMs += ms
      return
    }
    if (!calm && chance(random, 0.3)) void create(muster)
    if (!calm) command(muster)
    join(muster)
    witness.looks(muster.tickets.all(), downMs)
  }

  await begin()
  for (let at = 0; at < BAD_MS; at += STEP_MS) {
    await step(STEP_MS)
    if (current !== undefined && !current.life.isDead() && chance(random, deathShare))
      current.life.kill(oneOf<Death>(random, 'after', 'power'))
    if (current !== undefined && chance(pausing, suspendShare)) {
      const { life } = current
      const forMs = oneOf(pausing, 3000, 8000, 40_000, 90_000)
      life.suspend()
      counts.suspended += 1
      for (let waited = 0; waited < forMs; waited += STEP_MS) await step(STEP_MS)
      life.resume()
      // The next tick may come before the reports that have arrived meanwhile.
      if (chance(pausing, 0.5)) current?.tick()
    }
    if (current?.life.isDead() === false) continue
    const down = oneOf(random, 0, random() * 3000, random() * 15_000)
    for (let waited = 0; waited < down; waited += STEP_MS) await step(STEP_MS)
    await begin()
  }

  calm = true
  for (const { life } of others) life.kill('before')
  /** Makes a step without faults. An earlier write may still end the process, so that a new one must begin. */
  const stepInCalm = async () => {
    if (current?.life.isDead() !== false) await begin()
    current?.life.spare()
    await step(CALM_STEP_MS)
  }
  const isQuiet = () => {
    const muster = running()
    if (muster === undefined) return false
    for (const { state } of muster.tickets.all())
      if (state === 'searching' || state === 'matched' || state === 'assigned') return false
    return true
  }
  const openTickets = () =>
    [...(running()?.tickets.all() ?? [])].filter(({ state }) => state !== 'over' && state !== 'cancelled')
  for (let at = 0; at < CALM_MS && !isQuiet(); at += CALM_STEP_MS) {
    await stepInCalm()
    if (at === 20_000) running()?.tickets.close()
    if (at % 40_000 === 20_000) endAbandoned(running(), machines)
  }
  for (const { id, state, match } of openTickets()) broken.add(`${id} is still ${state} in ${match}`)

  running()?.tickets.close()
  const paid = () => [...service.unstopped(), ...allocator.running()]
  /** Returns the servers that the running process knows. Enrolled machines are excluded, because they return. */
  const known = () => [...(running()?.allocator.servers() ?? [])].filter(({ source }) => source !== ENROLLED)
  for (let at = 0; at < 60_000 && (at === 0 || paid().length + known().length > 0); at += CALM_STEP_MS) {
    const muster = running()
    for (const server of muster?.allocator.servers() ?? []) muster?.allocator.dropServer(server, 'closed')
    await stepInCalm()
  }
  for (const handle of paid()) broken.add(`${handle} is left`)
  for (let at = 0; at < END_MS; at += CALM_STEP_MS) await stepInCalm()
  await checkFound()
  const { servers, matches } = await storage.copy().log.open()
  for (const { serverId, source } of servers)
    if (source !== ENROLLED) broken.add(`the store still has the server ${serverId}`)
  for (const { matchId } of matches) broken.add(`the store still has the match ${matchId}`)
  return { broken: [...broken], counts }
}

/** Stops matches whose server has no running process, as an operator would. */
function endAbandoned(muster: RunningMuster | undefined, machines: Machines): void {
  if (muster === undefined) return
  const there = new Set(Array.from(machines.processes(), (one) => one.handle()))
  for (const { id, requestId, phase } of muster.allocator.matches())
    if (phase === 'running' && !there.has(requestId ?? '')) void muster.stop(id)
}
