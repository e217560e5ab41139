import { pagesFolder } from '@muster/console'
import { createHostCheck, problemResponse, warnThat } from '@muster/core/internal'
import { dateOf, systemClock } from '@muster/core/clock'
import { type Connection, Problem } from '@muster/core/http'
import type { Matchmaker } from '@muster/matchmaker'
import { createConsoleApi } from './api.js'
import { AUDIT_BOUNDS, createAudit } from './audit.js'
import { createWatch } from './feed/feed.js'
import type { AuditedAction, ConsoleOptions } from './options.js'
import { createPages } from './pages.js'
import { createQueueCards } from './queue-cards.js'
import {
  createEventHistory,
  createEventRing,
  type EventRing,
  type RecordedEvent,
  recordEvents,
  lasted,
  createStories,
} from './stories/index.js'
import type { EventBounds } from './event-store.js'
import { createRecording, createTrials, trialThreads } from './trials/index.js'

/**
 * Headers of all responses. The page may run only its own script and style sheet, may connect only to its own server,
 * and cannot be framed. API responses have the same headers, so that a browser that opens one as a page runs nothing.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Rejects requests from pages of other sites. A hostile page that the operator visits can make the browser send
 * requests to this server. Such requests fail without the token anyway, but these checks reject them before the token
 * is read.
 * @param hosts names without a port that are served in addition to IP addresses and `localhost`.
 * @throws TypeError for an invalid name
 */
function createVisitors(hosts: readonly string[]) {
  const isServed = createHostCheck(hosts, 'hosts')
  const ownNames = new Set(hosts.map((name) => name.toLowerCase()))

  /**
   * Returns true if a page of `origin` is the console's own. Both names are compared, because behind a proxy Host may
   * name this machine while Origin names the public host.
   */
  const isOwn = (origin: string, host: string | null) => {
    if (!URL.canParse(origin)) return false
    const url = new URL(origin)
    return url.host === host?.toLowerCase() || ownNames.has(url.hostname)
  }

  return {
    /** @throws {Problem} 421 for a Host header that is not served here, e.g. after DNS rebinding */
    checkHost: ({ headers }: Request): void => {
      if (isServed(headers.get('host') ?? undefined)) return
      throw new Problem(421, 'wrong-host', 'Unknown host name. Add it to console.hosts, or use localhost.')
    },
    /** @throws {Problem} 403 for a call from another site's page */
    checkOrigin: ({ headers }: Request): void => {
      const site = headers.get('sec-fetch-site')
      const origin = headers.get('origin')
      const isSame = site === null || site === 'same-origin' || site === 'none'
      if (isSame && (origin === null || isOwn(origin, headers.get('host')))) return
      throw new Problem(403, 'cross-site', 'Only the console’s own page may call this.')
    },
  }
}

/**
 * Size of recordings in bytes (our choice). All parts hold some 200,000 tickets, which is an hour of 60 tickets per
 * second.
 */
const RECORDED = { partLength: 16 * 1024 * 1024, parts: 4 }
/**
 * Bounds of the event history (our choice): a day, or some 140,000 tickets, which is an hour of 40 tickets per second.
 */
const STORIES: EventBounds = { keepMs: 86_400_000, mostBytes: 64 * 1024 * 1024 }
/** Minimum size of an event in memory, in bytes. */
const LEAST_BYTES = 128
/** Maximum age of a ticket in milliseconds at which its late report still counts as an arrival. */
const RECENT_MS = 60_000

/** The console's pages and its API. */
export type Console = ReturnType<typeof createConsole>

/** Creates the console. @throws TypeError for an invalid name in `hosts` */
export function createConsole(options: ConsoleOptions) {
  const { matchmaker, locate, queues, clock = systemClock, onError = warnThat('the console') } = options
  const visitors = createVisitors(options.hosts ?? [])
  const pages = createPages(options.pages ?? pagesFolder)
  const recording = createRecording({ ...RECORDED, clock })
  const cards = createQueueCards(queues, options.applyQueue !== undefined)
  const { stories = STORIES, openEvents } = options
  const ring = createEventRing({ ...stories, mostEvents: Math.ceil(stories.mostBytes / LEAST_BYTES) })
  const watch = createWatch(options, { clock, missing: () => droppedStories(ring, dateOf(clock)), failed: onError })
  const history = createEventHistory<RecordedEvent>({
    store: openEvents?.('stories', stories),
    clock,
    taken: (event) => {
      ring.add(event)
      if (event.what === 'created' && dateOf(clock) - event.at < RECENT_MS) watch.arrived(event.queues)
    },
    failed: onError,
  })
  const audit = createAudit({ store: openEvents?.('acts', AUDIT_BOUNDS), clock, failed: onError })
  const acted = (act: AuditedAction) => {
    options.acted(act)
    audit.note(act)
  }
  const endRecording = recordEvents(matchmaker.on, history.add, (at) => dateOf(clock, at))
  const find = createStories({
    ring,
    loaded: async () => void (await Promise.all([history.loaded(), audit.view()])),
    operated: audit.about,
    matchmaker,
    limitsOf: cards.limitsOf,
    now: () => dateOf(clock),
    startedAt: dateOf(clock),
    yieldNow: () => new Promise((resolve) => setImmediate(resolve)),
  })
  const trials = createTrials({
    recording,
    queues,
    cards,
    start: trialThreads(options.trialWorker),
    clock,
    startedAt: clock.now(),
  })
  const api = createConsoleApi({ ...options, acted }, { watch, find, audit, queues: cards, trials, clock, onError })

  const answer = async (request: Request, connection: Connection): Promise<Response> => {
    visitors.checkHost(request)
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/console/api/')) {
      visitors.checkOrigin(request)
      return api(request, connection)
    }
    if (pathname === '/console') return new Response(null, { status: 308, headers: { location: '/console/' } })
    if (!pathname.startsWith('/console/')) throw new Problem(404, 'no-such-path', 'There is nothing at this path.')
    return pages.answer(request, pathname.slice('/console'.length))
  }

  return {
    /** Handles requests for `/console` and below. Never rejects. */
    handle: async (request: Request, connection: Connection = {}) =>
      secured(await answer(request, connection).catch(refusal(onError))),
    /**
     * Returns the matchmaker to use from now on. It records its commands in memory, so that changed rules can be tried
     * on them. Call this before tickets are created.
     */
    recording: (plain: Matchmaker): Matchmaker => recording.of(plain, queues(), locate),
    /** Records the action of an operator who called another API. */
    acted,
    /** Ends all feeds and trials, and stops listening to events. */
    close: async () => {
      endRecording()
      trials.close()
      await watch.close()
      await Promise.all([history.close(), audit.close()])
    },
  }
}

const refusal = (onError: (error: unknown) => void) => (error: unknown) => {
  if (error instanceof Problem) return problemResponse(error)
  onError(error)
  return problemResponse(new Problem(500, 'internal-error', 'Internal error. The server log has the cause.'))
}

/** Returns a sentence about the age of the oldest stored event, if older events were dropped. */
const droppedStories = (ring: EventRing, now: number): readonly string[] =>
  ring.hasDropped() ? [`Stories reach back ${lasted(now - (ring.since() ?? now))}: older events were dropped.`] : []

function secured(answer: Response): Response {
  for (const [name, value] of Object.entries(securityHeaders)) answer.headers.set(name, value)
  return answer
}
