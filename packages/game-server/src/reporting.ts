import type { Clock } from './clock.js'
import { fits } from './shapes.js'
import type { Orders, Registered, ServerStateBody } from './wire.js'

/** What the reports to Muster need, and the callbacks for responses. */
export interface ReportingOptions {
  readonly url: string
  /** MUSTER_SERVER_TOKEN. Undefined for a process that adds itself to a pool: it gets a token by enrolling. */
  readonly token: string | undefined
  /** MUSTER_ENROL_KEY, which Muster exchanges for a token. */
  readonly enrolmentKey?: string | undefined
  /** The body of the registration. */
  readonly registration: object
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: typeof fetch
  /** Returns the whole state of the server. Called before each report. */
  readonly state: () => Promise<ServerStateBody>
  readonly registered: (answer: Registered) => void
  readonly applyOrders: (orders: Orders) => void
  /** Called when Muster wants this process to end. */
  readonly gone: (reason: string) => void
  /** Called with the milliseconds by which Muster's clock is ahead of this machine's clock. */
  readonly clockDiffers: (aheadMs: number) => void
  readonly problem: (error: Error) => void
}

export type Reporting = ReturnType<typeof createReporting>

/** Maximum seconds for which Muster holds a report until there are new orders. It is the interval of heartbeats. */
const WAIT_SECONDS = 10
/** Milliseconds after which a response counts as lost, in addition to the time for which Muster holds it. */
const ANSWER_MS = 10_000
/** Minimum milliseconds between two reports. Muster accepts 50 reports in 5 s. */
const GAP_MS = 200
/**
 * Number of reports after the first registration that are sent without `GAP_MS`, so that a new server soon gets its
 * first match.
 */
const EAGER_REPORTS = 3
/** Milliseconds of the first and of the longest pause after a failure. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/**
 * Longest pause in milliseconds that a response may request (our choice). Without this limit, one wrong header could
 * stop the reports for good.
 */
const LONGEST_RETRY_MS = 3_600_000
/** Milliseconds up to which clock differences are ignored, because the header with Muster's time has whole seconds. */
const CLOCK_TOLERANCE_MS = 2000

interface ReportAnswer {
  readonly status: number
  readonly body: unknown
  readonly retryAfterMs: number
}

/**
 * Creates the reports to Muster, by a registration and by reports of the state. Each report has the whole state, so a
 * report that is lost, repeated or late does no harm.
 */
export function createReporting(options: ReportingOptions) {
  const { clock, random, problem } = options
  const url = options.url.replace(/\/+$/, '')
  const instance = crypto.randomUUID()
  const awaited: { readonly revision: number; readonly resolve: () => void }[] = []
  let { token } = options
  let revision = 0
  let acknowledged = 0
  /** Aborts the report in flight, whose response Muster delays until it has orders for the server (a long poll). */
  let interrupt = () => {}

  const acknowledge = (upTo: number) => {
    acknowledged = upTo
    while (awaited[0] !== undefined && awaited[0].revision <= upTo) awaited.shift()?.resolve()
  }

  /** Sends a request. @returns undefined if a change of the state aborted it; status 0 if no response arrived */
  const ask = async (
    method: string,
    path: string,
    body: object,
    waitMs: number,
    ending: AbortSignal,
  ): Promise<ReportAnswer | undefined> => {
    const request = new AbortController()
    const sleeping = new AbortController()
    let isInterrupted = false
    const end = () => request.abort()
    ending.addEventListener('abort', end, { once: true })
    if (waitMs > 0)
      interrupt = () => {
        isInterrupted = true
        request.abort()
      }
    clock.sleep(waitMs + ANSWER_MS, sleeping.signal).then(end, () => {})
    try {
      ending.throwIfAborted()
      const response = await options.fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token ?? options.enrolmentKey}`, 'content-type': 'application/json' },
        body: wellFormed(JSON.stringify({ instance, ...body })),
        signal: request.signal,
      })
      const text = await response.text()
      compareClocks(response.headers.get('date'))
      const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000
      return { status: response.status, body: parsed(text), retryAfterMs: retryAfterMs > 0 ? retryAfterMs : 0 }
    } catch {
      return isInterrupted ? undefined : { status: 0, body: undefined, retryAfterMs: 0 }
    } finally {
      interrupt = () => {}
      sleeping.abort()
      ending.removeEventListener('abort', end)
    }
  }

  const compareClocks = (date: string | null) => {
    const aheadMs = date === null ? Number.NaN : Date.parse(date) - clock.now()
    if (!Number.isNaN(aheadMs)) options.clockDiffers(Math.abs(aheadMs) < CLOCK_TOLERANCE_MS ? 0 : aheadMs)
  }

  return {
    /** Registers, then reports until the signal aborts. */
    run: async (signal: AbortSignal) => {
      let seq = 0
      let version: number | undefined
      /** True if the next report is the first one since the registration. */
      let isFirst = false
      /**
       * Number of registrations in a row whose first report was refused. Registering again at once could go on for
       * ever, e.g. with two Musters at one address.
       */
      let unheld = 0
      let failures = 0
      let spokeAt = -Infinity
      let eager = 0

      const register = () => ask('POST', '/servers', options.registration, 0, signal)
      const report = async (): Promise<ReportAnswer | undefined> => {
        const sent = revision
        const state = await options.state()
        seq += 1
        const waits = sent === acknowledged && sent === revision
        const path = `/servers/me${waits ? `?wait=${WAIT_SECONDS}&version=${version}` : ''}`
        const answer = await ask('PUT', path, { seq, ...state }, waits ? WAIT_SECONDS * 1000 : 0, signal)
        if (answer?.status === 200 && fits('orders', answer.body)) acknowledge(sent)
        return answer
      }
      /** Handles a response. @returns true if the next request may follow without a pause */
      const handleAnswer = ({ status, body }: ReportAnswer, isRegistration: boolean): boolean => {
        const isGood = status === 200 || status === 201
        if (isGood && fits(isRegistration ? 'registered' : 'orders', body)) {
          if (isRegistration) options.registered(body as Registered)
          if (isRegistration && options.enrolmentKey !== undefined) token = fieldIn(body, 'token') ?? token
          version = (body as Orders).version
          isFirst = isRegistration
          if (!isRegistration) unheld = 0
          options.applyOrders(body as Orders)
          // The next report must contain the state of the server's matches, so it counts as a change.
          if (isRegistration) revision += 1
          if (isRegistration && seq === 0) eager = EAGER_REPORTS
          return true
        }
        // A 401 after enrolling means that Muster has a new secret, e.g. after a restart without a store. So the server
        // enrols again.
        const isStranger = status === 401 && options.enrolmentKey !== undefined && token !== undefined
        if (isStranger) token = undefined
        if (isStranger || (status === 409 && !isRegistration)) {
          version = undefined
          if (!isFirst) return true
          failures = unheld
          unheld += 1
        }
        isFirst = false
        if (status === 410) options.gone(messageIn(body) ?? 'no longer needed')
        else problem(new Error(faultOf(status, body, options.enrolmentKey !== undefined, isStranger, isRegistration)))
        return false
      }

      while (!signal.aborted) {
        const isRegistration = version === undefined
        const gapMs = eager > 0 && !isRegistration ? 0 : GAP_MS
        eager = isRegistration ? 0 : Math.max(0, eager - 1)
        await clock.sleep(Math.max(0, spokeAt + gapMs - clock.now()), signal).catch(() => {})
        spokeAt = clock.now()
        const answer = await (isRegistration ? register() : report())
        if (answer === undefined || signal.aborted) continue
        if (handleAnswer(answer, isRegistration)) {
          failures = 0
          continue
        }
        const longest = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
        failures += 1
        const wanted = Math.min(answer.retryAfterMs, LONGEST_RETRY_MS)
        await clock.sleep(Math.max(wanted, random() * longest), signal).catch(() => {})
      }
      acknowledge(Infinity)
    },
    /** Reports a change of the state at once. Resolves once Muster has it. */
    changed: () => {
      revision += 1
      interrupt()
      if (acknowledged === Infinity) return Promise.resolve()
      const mine = revision
      return new Promise<void>((resolve) => awaited.push({ revision: mine, resolve }))
    },
  }
}

/** Replaces halves of surrogate pairs, e.g. of a name that was cut within an emoji: Muster refuses a body with one. */
const wellFormed = (json: string): string =>
  json.replaceAll(/(\\\\)|\\ud[89a-f][\da-f]{2}/g, (_, backslash?: string) => backslash ?? '\\ufffd')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const fieldIn = (body: unknown, name: string) => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : undefined
}
const messageIn = (body: unknown) => fieldIn(body, 'detail') ?? fieldIn(body, 'message')

/** Describes a response without orders. The text contains nothing that this server has sent. */
function faultOf(status: number, body: unknown, enrols: boolean, isStranger: boolean, isRegistration: boolean): string {
  if (status === 0) return 'Muster does not answer. The game continues; the state is sent once Muster answers.'
  if (status === 401 && !isStranger)
    return `Muster does not know ${enrols ? 'MUSTER_ENROL_KEY' : 'MUSTER_SERVER_TOKEN'} (401).`
  const said = messageIn(body)
  if (said === undefined || status < 300)
    return `The answer of MUSTER_URL is not from Muster (${status}): is there a proxy in between?`
  const field = fieldIn(body, 'field')
  const what = isRegistration ? (enrols ? 'the enrolment' : 'the registration') : 'a report'
  return `Muster refuses ${what} (${status}${field === undefined ? '' : `, ${field}`}): ${said}`
}
