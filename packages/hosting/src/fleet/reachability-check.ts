import type { Clock } from '@muster/core/clock'
import type { Enrolment } from '../pools/index.js'
import type { Assignment, Server } from '../records/index.js'
import type { Prober } from './port-probe.js'

type KnockProbe = NonNullable<Enrolment['knock']>

interface KnockingOptions {
  readonly prober: Prober
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Returns the text of the datagram for a port of a server. */
  readonly textOf: (server: Server, port: string) => string
  /**
   * Returns how the configuration requires the server's address to be tested. Undefined if no test is required, `gone`
   * if the server's key was removed.
   */
  readonly probeOf: (server: Server) => KnockProbe | undefined | 'gone'
  /** Called when the test of a server has succeeded or is no longer required. */
  readonly proved: (server: Server) => void
  /** Called when a server has failed its test. */
  readonly failed: (server: Server, probe: KnockProbe, knocks: number) => void
}

/** Milliseconds between two knocks (test messages) at a server, and the timeout of a connection. */
const GAP_MS = 1000
/** Maximum knocks per second for one key (our choice), because the key's holder chooses the addresses. */
const MOST_A_SECOND = 20
/** Number of characters of the datagram that the server learns in advance by its orders. */
const TOLD = 'muster-knock-'.length + 8

/** Creates the state of a server's test. It is not stored: after a restart, the test begins again. */
const newKnocks = (assignment: Assignment) => ({
  assignment,
  /** True once the server has reported. It then knows the beginning of the datagram. */
  isHeard: false,
  count: 0,
  at: -Infinity,
  ending: new AbortController(),
})
type Knocks = ReturnType<typeof newKnocks>

/**
 * Tests whether enrolled servers are at the addresses that they report. A knock is a small datagram or a TCP
 * connection. Muster knocks at most once a second at each server, and only after its first report. The test fails
 * after a maximum number of knocks, not after a time, so a pause of this process does not count as silence.
 */
export function createReachabilityCheck({ prober, clock, textOf, probeOf, proved, failed }: KnockingOptions) {
  const waiting = new Map<Server, Knocks>()
  /** The knocks of the current second, by key. */
  const spent = new Map<string, { readonly since: number; count: number }>()

  const mayKnock = (key: string, now: number): boolean => {
    const before = spent.get(key)
    if (before !== undefined && now - before.since < GAP_MS) return (before.count += 1) <= MOST_A_SECOND
    spent.set(key, { since: now, count: 1 })
    return true
  }

  const forget = (server: Server) => {
    waiting.get(server)?.ending.abort()
    waiting.delete(server)
  }
  const prove = (server: Server) => {
    forget(server)
    proved(server)
  }

  const knock = async (server: Server, probe: KnockProbe, one: Knocks): Promise<void> => {
    const { kind } = probe
    const { fqdn, ports } = one.assignment
    const port = ports[probe.port]?.external
    const ending = new AbortController()
    one.ending.abort()
    one.ending = ending
    if (port === undefined) return
    void clock.sleep(GAP_MS, ending.signal).then(
      () => ending.abort(),
      () => {},
    )
    const accepted = await prober({ kind, host: fqdn, port, payload: textOf(server, probe.port) }, ending.signal)
    // An answer to a datagram proves nothing. For UDP, the server must repeat the datagram in its report.
    if (accepted && kind === 'tcp' && waiting.get(server) === one) prove(server)
  }

  const lookAt = (server: Server, one: Knocks, now: number) => {
    if (server.phase !== 'warming') return forget(server)
    const probe = probeOf(server)
    if (probe === undefined) return prove(server)
    if (probe === 'gone' || !one.isHeard || now - one.at < GAP_MS) return
    if (one.count >= Math.ceil(probe.withinMs / GAP_MS)) {
      forget(server)
      return failed(server, probe, one.count)
    }
    if (!mayKnock(server.enrolled?.key ?? '', now)) return
    one.count += 1
    one.at = now
    // Move the server to the end, so that other servers with the same key come first next time.
    waiting.delete(server)
    waiting.set(server, one)
    void knock(server, probe, one)
  }

  return {
    /** Begins the test of a server. No players are sent to the server before its address is proved. */
    begin: (server: Server, assignment: Assignment) => void waiting.set(server, newKnocks(assignment)),
    /** True while the test of the server is running. */
    isAwaited: (server: Server) => waiting.has(server),
    /** Returns the beginning of the datagram that the server must repeat. Undefined if no datagram is sent. */
    expectedText: (server: Server): string | undefined => {
      const probe = waiting.has(server) ? probeOf(server) : undefined
      return typeof probe === 'object' && probe.kind === 'udp' ? textOf(server, probe.port).slice(0, TOLD) : undefined
    },
    /** Called when the server has reported. @param text the datagram that the server says it has received */
    heard: (server: Server, text: string | undefined) => {
      const one = waiting.get(server)
      const probe = one && probeOf(server)
      if (one === undefined) return
      if (typeof probe === 'object' && probe.kind === 'udp' && text === textOf(server, probe.port)) return prove(server)
      one.isHeard = true
      lookAt(server, one, clock.now())
    },
    forget,
    advance: (now: number) => {
      for (const [server, one] of waiting) lookAt(server, one, now)
    },
    close: () => {
      for (const server of waiting.keys()) forget(server)
    },
  }
}
