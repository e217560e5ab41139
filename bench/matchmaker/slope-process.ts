/**
 * Measures the heap growth of a busy matchmaker over an hour of a manual clock, in which as many tickets end as arrive.
 * By hand: `node --expose-gc bench/dist/matchmaker/slope-process.js`.
 */
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { createMatchmaker, type DeploymentService } from '@muster/matchmaker'

const TICKETS_PER_SECOND = 5000
/**
 * Number of tickets of a match. With it, 40 matches per second are found, which is the limit of creates. The other
 * tickets give up.
 */
const MATCH_SIZE = 100
const MATCHED_PER_SECOND = 40 * MATCH_SIZE
const MINUTES = 60
/** Minutes after which pools, caches and maps have reached their final size. */
const WARM_UP_MINUTES = 10
/** Milliseconds from the assignment to the end of a match. Many matches thus end during a sweep of the list. */
const MATCH_MS = 20_000
const TICK_MS = 250
const PER_PAGE = 100
/** Milliseconds in which the service answers a list request. */
const LIST_MS = 100

/** Creates a service that reports each server as READY at once, and lists running servers page by page. */
function createPagedService(clock: ManualClock) {
  const running = new Set<string>()
  const counts = { created: 0, reads: 0, readsOfStopped: 0 }
  let tell: (requestId: string) => void = () => {}
  const service: DeploymentService = {
    create: async () => {
      counts.created += 1
      const requestId = `r${counts.created}`
      running.add(requestId)
      queueMicrotask(() => tell(requestId))
      return { request_id: requestId }
    },
    get: async ({ request_id }) => {
      counts.reads += 1
      if (!running.has(request_id)) counts.readsOfStopped += 1
      return {
        request_id,
        current_status: running.has(request_id) ? 'Status.READY' : 'Status.TERMINATED',
        fqdn: 'server.example.com',
        ports: {},
      }
    },
    stop: async ({ request_id }) => {
      running.delete(request_id)
      return { message: 'stopped' }
    },
    list: async ({ page = 1 }) => {
      await clock.sleep(LIST_MS)
      const newestFirst = [...running].toReversed()
      const data = newestFirst
        .slice((page - 1) * PER_PAGE, page * PER_PAGE)
        .map((request_id) => ({ request_id, ready: true, fqdn: 'server.example.com', tags: ['mm-muster'] }))
      return { data, total_count: running.size, pagination: { number: page, has_next: page * PER_PAGE < running.size } }
    },
  }
  return { service, running, counts, onReady: (listener: (requestId: string) => void) => void (tell = listener) }
}

export interface Slope {
  /** Growth per minute, by least squares over all minutes after the warm-up. */
  readonly megabytesPerMinute: number
  readonly readsOfStopped: number
  readonly found: Readonly<Record<string, unknown>>
}

const deploy = { application: 'game', version: '1' }

async function measure(): Promise<Slope> {
  const clock = createManualClock()
  const { service, running, counts, onReady } = createPagedService(clock)
  const matchmaker = createMatchmaker({
    deployments: service,
    queues: [
      { name: 'battle', matchSize: MATCH_SIZE, deploy },
      { name: 'empty', matchSize: 500, deploy },
    ],
    clock,
    random: seededRandom(1),
    maxServers: Infinity,
    maxStarting: Infinity,
    endedTicketTtlMs: 1000,
  })
  const playing: { readonly matchId: string; readonly until: number }[] = []
  matchmaker.on('serverAssigned', ({ matchId }) => void playing.push({ matchId, until: clock.now() + MATCH_MS }))
  matchmaker.on('problem', ({ error }) => {
    throw error
  })
  onReady((requestId) => matchmaker.hint(requestId))

  let players = 0
  const join = (queue: string) => {
    players += 1
    return matchmaker.createTicket({ queue, players: [{ id: `p${players}`, ip: '198.51.100.7' }] }).id
  }
  const inATick = (perSecond: number) => (perSecond * TICK_MS) / 1000
  const tick = async () => {
    for (let nth = 0; nth < inATick(MATCHED_PER_SECOND); nth += 1) join('battle')
    const impatient = Array.from({ length: inATick(TICKETS_PER_SECOND - MATCHED_PER_SECOND) }, () => join('empty'))
    await matchmaker.tick()
    await clock.advance(TICK_MS)
    for (const id of impatient) matchmaker.cancelTicket(id)
    const over = playing.findIndex(({ until }) => until > clock.now())
    for (const { matchId } of playing.splice(0, over === -1 ? playing.length : over)) void matchmaker.stopMatch(matchId)
  }

  const heap: number[] = []
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    for (let passed = 0; passed < 60_000; passed += TICK_MS) await tick()
    if (minute > WARM_UP_MINUTES) heap.push(megabytesUsed())
  }
  return {
    megabytesPerMinute: slopeOf(heap),
    readsOfStopped: counts.readsOfStopped,
    found: {
      'tickets created': players,
      'servers running at the end': running.size,
      'status reads': counts.reads,
      'megabytes at the end': Math.round(heap.at(-1) ?? Number.NaN),
    },
  }
}

function megabytesUsed(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

/** Returns the slope of the line that fits equally spaced values best, by least squares. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const [rise, run] = values.reduce(
    ([up, along], value, at) => [up + (at - middle) * (value - mean), along + (at - middle) ** 2],
    [0, 0],
  )
  return rise / run
}

const measured = await measure()
if (process.send === undefined) console.log(measured)
else process.send(measured)
