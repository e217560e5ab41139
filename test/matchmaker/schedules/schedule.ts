import type { CreateDeployment } from '@muster/core/api'
import { seededRandom } from '@muster/core/clock'
import type { Emulator } from '@muster/emulator'
import { AlreadyAssigned, type Matchmaker } from '@muster/matchmaker'
import { createMatchmakerOver, createMemoryServerLog, type ServerLog } from '@muster/matchmaker/internal'
import { drawDay, drawFault, isWithin, pick } from './faults.js'
import { groundFor, LIST_LAG_MS } from './ground.js'
import { createMortal, type Death, type Mortal } from './mortal.js'

/** A matchmaker in a process that can be killed. */
interface Life {
  readonly mortal: Mortal
  readonly matchmaker: Matchmaker
  /** The ends of each ticket. */
  readonly ends: Map<string, string[]>
}

/** The faults found in a schedule, in words, none if all was well; and counts which show that it did something. */
export interface Outcome {
  readonly broken: readonly string[]
  readonly assigned: number
  readonly deaths: number
  readonly deployments: number
  readonly reaped: number
}

const STEP_MS = 500
const BAD_MS = 6000
/** Time in which everything ends by itself: tickets expire, lost creates are given up, and strays are reaped. */
const CALM_MS = 32_000
const REAPING_MS = 80_000
const EXPIRE_MS = 10_000
const REAP_MS = 4000
const DOWN_MS = 2000
/** Probability per step that a process is killed, wherever it is. */
const SUDDEN_DEATH = 0.04

const MATCH = /^match-([a-z0-9]+)/
const isLiving = (status: string) => !/ERROR|TERMINAT/.test(status)

/** Runs one matchmaker after another on one store, for changing players and a service that fails as the seed says. */
export async function runSchedule(seed: number): Promise<Outcome> {
  const ground = await groundFor(seed)
  const { clock, emulator } = ground
  const random = seededRandom(seed * 7919 + 1)
  const day = drawDay(random)
  const startedAt = clock.now()
  const name = `s${seed}`
  const broken: string[] = []
  let calm = false
  /** Whether more servers may exist than before. */
  let created = false
  let deaths = 0
  let assigned = 0
  let reaped = 0
  let serverLog: ServerLog = createMemoryServerLog()
  /** Whether a process came back without its store. */
  let forgot = false

  /** Number of stops requested for each deployment. */
  const stops = new Map<string, number>()
  /** The beginnings of the processes, and which of them created each match's deployment, by tag. */
  const beginnings: number[] = []
  const askedBy = new Map<string, number>()

  const answer = (request: Request): Promise<Response> => {
    const operation = operationOf(request)
    if (operation === 'deployments.create') {
      created = true
      const asking = beginnings.length - 1
      void request
        .clone()
        .json()
        .then((body) => {
          for (const tag of (body as CreateDeployment).tags ?? []) if (MATCH.test(tag)) askedBy.set(tag, asking)
        })
    }
    if (operation === 'deployments.stop') {
      const requestId = new URL(request.url).pathname.split('/').at(-1) ?? ''
      stops.set(requestId, (stops.get(requestId) ?? 0) + 1)
    }
    const what = calm ? undefined : drawFault(random, day, operation, clock.now() - startedAt)
    if (what === undefined) return emulator.fetch(request)
    // Affects only this request, because the emulator chooses faults before it waits for anything.
    const withdraw = emulator.faults.add({ operation: operation as 'deployments.get', ...what })
    try {
      return emulator.fetch(request)
    } finally {
      withdraw()
    }
  }

  /** Servers that players were sent to and that nobody has ended since. */
  const told = new Map<string, string>()
  /** Matches whose stop was written to the store before the process died: none of them goes on. */
  const stopped = new Set<string>()
  let stopping: string[] = []

  const tookEffectLate = (requestId: string): boolean => {
    const record = emulator.inspect().deployments.find(({ request_id }) => request_id === requestId)
    const asking = record?.tags?.flatMap((tag) => askedBy.get(tag) ?? [])[0]
    const next = asking === undefined ? undefined : beginnings[asking + 1]
    return record !== undefined && next !== undefined && Date.parse(`${record.start_time}Z`) >= next
  }

  const begin = (death: Death | undefined): Life => {
    beginnings.push(clock.now())
    const ends = new Map<string, string[]>()
    const mortal = createMortal({
      clock,
      random,
      seed,
      disk: serverLog,
      death,
      isDiskFull: () => !calm && (isWithin(day.diskFull, clock.now() - startedAt) || random() < day.others / 4),
      answer,
      died: () => (deaths += 1),
    })
    const matchmaker = createMatchmakerOver(
      {
        name,
        queues: [
          {
            name: 'duel',
            matchSize: 2,
            expireAfterMs: EXPIRE_MS,
            deploy: { application: 'game', version: '1', readyTimeoutMs: 5000, requireCachedLocations: seed % 4 === 0 },
          },
        ],
        deployments: mortal.deployments,
        ...(seed % 2 === 0 ? { locations: mortal.locations } : {}),
        clock: mortal.clock,
        random,
        tickMs: STEP_MS,
        listLagMs: LIST_LAG_MS,
        orphanGraceMs: REAP_MS,
        maxServers: 4,
        readsPerSecond: 8,
        ...(day.webhooks > 0 ? { webhookUrl: 'http://127.0.0.1:9/hooks' } : {}),
      },
      () => mortal.serverLog,
    )
    ground.webhooks = (request) =>
      mortal.isDead() ? Promise.resolve(new Response(null, { status: 502 })) : matchmaker.webhook(request)
    const ended = (id: string, how: string) => {
      // A killed process runs on here until it waits for something; nothing that it reports meanwhile is heard.
      if (mortal.isDead()) return
      ends.set(id, [...(ends.get(id) ?? []), how])
    }
    matchmaker.on('serverAssigned', ({ matchId, requestId, tickets }) => {
      if (mortal.isDead()) return
      assigned += tickets.length
      told.set(matchId, requestId)
      for (const { id } of tickets) ended(id, 'assigned')
      const status = statusOf(emulator, requestId)
      if (status !== 'Status.READY') broken.push(`players were sent to ${requestId}, which is ${status}`)
    })
    matchmaker.on('cancelled', ({ ticket }) => ended(ticket.id, 'cancelled'))
    matchmaker.on('expired', ({ ticket }) => ended(ticket.id, 'expired'))
    matchmaker.on('deploymentStopped', ({ matchId, requestId, reason }) => {
      if (told.get(matchId) === requestId) broken.push(`${requestId} was stopped under its players: ${reason}`)
    })
    matchmaker.on('orphanStopped', ({ requestId }) => {
      reaped += 1
      // A process stops what it knows from its store. But a server that ends slowly may outlive it, and so may a
      // create that takes effect when the next process is already looking for it.
      if (!forgot && stops.get(requestId) === 1 && !tookEffectLate(requestId))
        broken.push(`${requestId} had to be reaped`)
    })
    matchmaker.start()
    return { mortal, matchmaker, ends }
  }

  /** Checks that each match has at most one living server, whatever was lost. */
  const look = () => {
    if (!created) return
    created = false
    const living = ownDeployments(emulator, name).filter(({ current_status }) => isLiving(current_status))
    const matches = living.map(({ tags }) => tags?.map((tag) => MATCH.exec(tag)?.[1]).find((id) => id !== undefined))
    if (new Set(matches).size < matches.length) broken.push(`two living servers of one match: ${matches.join()}`)
  }

  const step = async (): Promise<void> => {
    await clock.advance(STEP_MS)
    look()
  }

  const drawDeath = (): Death | undefined =>
    random() < 0.6 ? { append: 1 + Math.floor(random() * 10), written: random() < 0.5 } : undefined

  const ids: string[] = []
  const act = ({ matchmaker }: Life) => {
    for (let joining = pick(random, 0, 0, 0, 0, 1, 2); joining > 0; joining--) {
      const party = pick(random, ['a'], ['a', 'b'])
      const players = party.map((who) => ({ id: `p${ids.length}-${who}`, ip: '192.0.2.7' }))
      ids.push(matchmaker.createTicket({ id: `${name}-${ids.length}`, queue: 'duel', players }).id)
    }
    if (random() < 0.15) cancel(matchmaker, pick(random, ...ids))
    const { matches } = matchmaker.inspect()
    if (random() < 0.15 && matches.length > 0) stopMatch(matchmaker, pick(random, ...matches).matchId)
    if (random() < 0.1) {
      const { requestId = 'r' } = pick(random, ...matches) ?? {}
      matchmaker.hint(requestId)
      const guess = new Request(`http://127.0.0.1:9/hooks/${matches[0]?.matchId}/guess`, { method: 'POST', body: '{}' })
      void matchmaker.webhook(guess).then(({ status }) => {
        if (status !== 404) broken.push(`a forged webhook was answered by ${status}`)
      })
    }
  }
  const cancel = (matchmaker: Matchmaker, id: string | undefined) => {
    if (id === undefined || matchmaker.getTicket(id) === undefined) return
    try {
      matchmaker.cancelTicket(id)
    } catch (error) {
      if (!(error instanceof AlreadyAssigned)) throw error
    }
  }
  const stopMatch = (matchmaker: Matchmaker, matchId: string) => {
    told.delete(matchId)
    stopping.push(matchId)
    void matchmaker.stopMatch(matchId).catch(() => {})
  }

  let life = begin(drawDeath())
  for (let at = 0; at < BAD_MS; at += STEP_MS) {
    act(life)
    await step()
    if (life.mortal.isDead()) {
      stopping = []
    } else if (life.matchmaker.inspect().held !== 'store') {
      for (const matchId of stopping) stopped.add(matchId)
      stopping = []
    }
    if (!life.mortal.isDead() && random() < SUDDEN_DEATH) life.mortal.kill()
    if (!life.mortal.isDead()) continue
    const downMs = random() * DOWN_MS
    for (let down = 0; down < downMs; down += STEP_MS) await step()
    if (random() < 0.05) {
      serverLog = createMemoryServerLog()
      forgot = true
    }
    life = begin(drawDeath())
  }
  calm = true
  life.mortal.spare()
  for (let at = 0; at < (forgot ? REAPING_MS : CALM_MS); at += STEP_MS) await step()

  const { matches } = life.matchmaker.inspect()
  const running = matches.filter(({ phase }) => phase === 'running').map(({ requestId }) => requestId)
  const living = ownDeployments(emulator, name).filter(({ current_status }) => !/TERMINAT/.test(current_status))
  for (const { request_id, current_status } of living) {
    if (!running.includes(request_id)) broken.push(`${request_id} is ${current_status}, and nobody's`)
  }
  if (!forgot) {
    for (const [matchId, requestId] of told) {
      if (!running.includes(requestId)) broken.push(`players of ${matchId} are on ${requestId}, which was given up`)
    }
  }
  for (const { phase, matchId } of matches) {
    if (phase !== 'running') broken.push(`match ${matchId} is still ${phase}`)
    if (stopped.has(matchId)) broken.push(`match ${matchId} goes on, although it was stopped`)
  }
  for (const [id, how] of life.ends) if (how.length !== 1) broken.push(`ticket ${id} ended as ${how.join()}`)
  for (const id of ids) {
    const status = life.matchmaker.getTicket(id)?.status
    if (status === 'SEARCHING' || status === 'MATCH_FOUND') broken.push(`ticket ${id} is still ${status}`)
  }

  told.clear()
  const left = await clock.until(life.matchmaker.close({ stopServers: true, timeoutMs: 20_000 }))
  await clock.advance(2 * STEP_MS)
  if (left.length > 0) broken.push(`not closed: ${left.map(({ matchId }) => matchId).join()}`)
  const kept = await serverLog.open()
  const open = [...kept.servers.map(({ serverId }) => serverId), ...kept.matches.map(({ matchId }) => matchId)]
  if (open.length > 0) broken.push(`the store still has ${open.join()}`)
  const all = ownDeployments(emulator, name)
  for (const { request_id, current_status } of all) {
    if (!/TERMINAT/.test(current_status)) broken.push(`${request_id} is left, ${current_status}`)
  }
  await life.mortal.close()
  return { broken, assigned, deaths, deployments: all.length, reaped }
}

function operationOf({ method, url }: Request): string {
  const { pathname } = new URL(url)
  if (pathname.includes('/locations')) return 'locations.list'
  if (method === 'POST') return 'deployments.create'
  if (method === 'DELETE') return 'deployments.stop'
  return pathname.includes('/status/') ? 'deployments.get' : 'deployments.list'
}

const ownDeployments = (emulator: Emulator, name: string) =>
  emulator.inspect().deployments.filter(({ tags }) => tags?.includes(`mm-${name}`))

const statusOf = (emulator: Emulator, requestId: string) =>
  emulator.inspect().deployments.find(({ request_id }) => request_id === requestId)?.current_status
