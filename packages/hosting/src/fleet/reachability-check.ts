import type { Clock } from '@muster/core/clock'
import type { Enrolment } from '../pools/index.js'
import type { Assignment, Server } from '../records/index.js'
import type { Prober } from './port-probe.js'

type KnockProbe = NonNullable<Enrolment['knock']>

interface KnockingOptions {
  readonly prober: Prober
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Returns the text of the datagram that Muster sends to this server. */
  readonly textOf: (server: Server, port: string) => string
  /**
   * Returns how to knock at a server, i.e. test whether its address can be reached, by the current configuration.
   * Undefined: not at all. `gone`: its key is no longer in the configuration.
   */
  readonly probeOf: (server: Server) => KnockProbe | undefined | 'gone'
  /** Called when the server is at the reported address, as far as that can be known. */
  readonly proved: (server: Server) => void
  /** Called when the server did not respond. */
  readonly failed: (server: Server, probe: KnockProbe, knocks: number) => void
}

/** Milliseconds between two knocks at a server, and the timeout of a connection. */
const GAP_MS = 1000
/**
 * Maximum number of knocks per second for one key, so that its holder cannot make Muster send more to any address (our
 * choice).
 */
const MOST_A_SECOND = 20
/** Number of characters of the datagram that the server learns beforehand. */
const TOLD = 'muster-knock-'.length + 8

/** Creates the state of a server whose address is not proved. It is not stored: after a restart Muster knocks again. */
const newKnocks = (assignment: Assignment) => ({
  assignment,
  /** True once the server has reported. Before that, it does not know the beginning of the datagram. */
  isHeard: false,
  count: 0,
  at: -Infinity,
  ending: new AbortController(),
})
type Knocks = ReturnType<typeof newKnocks>

/**
 * Finds out whether servers are at the addresses that they report. A knock is one small datagram or one connection.
 * Muster knocks only at servers that have reported, at most once a second, until the server has proved its address or
 * has missed a maximum number of knocks. Knocks are counted, so neither a pause of this process nor a clock step counts
 * as silence.
 */
export function createReachabilityCheck({ prober, clock, textOf, probeOf, proved, failed }: KnockingOptions) {
  const waiting = new Map<Server, Knocks>()
  /** Number of knocks in the current second, by key. */
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
    // A response to a datagram proves nothing. Only the server's own report does.
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
    // The server moves to the end, so that other servers with the same key come first.
    waiting.delete(server)
    waiting.set(server, one)
    void knock(server, probe, one)
  }

  return {
    /** Called for a new server. No players are sent to it before its address is proved. */
    begin: (server: Server, assignment: Assignment) => void waiting.set(server, newKnocks(assignment)),
    /** True if the server's address is not proved yet. */
    isAwaited: (server: Server) => waiting.has(server),
    /** Returns the beginning of the datagram that the server must repeat. Undefined: none is sent. */
    expectedText: (server: Server): string | undefined => {
      const probe = waiting.has(server) ? probeOf(server) : undefined
      return typeof probe === 'object' && probe.kind === 'udp' ? textOf(server, probe.port).slice(0, TOLD) : undefined
    },
    /** Called when the server has reported. @param text the datagram that it says it has received */
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
