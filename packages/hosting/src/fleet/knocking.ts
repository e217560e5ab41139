import type { Clock } from '@muster/core/clock'
import type { Enrolment } from '../pools/index.js'
import type { Assignment, Server } from '../records/index.js'
import type { Prober } from './port-probe.js'

type KnockProbe = NonNullable<Enrolment['knock']>

interface KnockingOptions {
  readonly prober: Prober
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** The text of the datagram by which this server is knocked at. */
  readonly textOf: (server: Server, port: string) => string
  /** How to knock, as the configuration is now: undefined: not at all; `gone`: its key has left that. */
  readonly probeOf: (server: Server) => KnockProbe | undefined | 'gone'
  /** The server is where it says, as far as can be known. */
  readonly proved: (server: Server) => void
  /** It did not answer. */
  readonly failed: (server: Server, probe: KnockProbe, knocks: number) => void
}

/** Milliseconds between two knocks at a server, and for which a connection is waited for. */
const GAP_MS = 1000
/** Knocks a second with one key: whoever has it cannot make us send more to any address (our choice). */
const MOST_A_SECOND = 20
/** Characters of the datagram that the server is told beforehand. */
const TOLD = 'muster-knock-'.length + 8

/** What is known of a server whose address is not proved. Not stored: after a restart it is knocked at anew. */
const newKnocks = (assignment: Assignment) => ({
  assignment,
  /** A server that was not heard does not know yet how the datagram begins. */
  isHeard: false,
  count: 0,
  at: -Infinity,
  ending: new AbortController(),
})
type Knocks = ReturnType<typeof newKnocks>

/**
 * Finds out whether servers are where they say. A knock is one small datagram, or one connection. Only a server that
 * was heard is knocked at, once a second, until it has proved its address or has let so many knocks pass: knocks are
 * counted, so neither a pause of ours nor a clock that steps is taken for silence.
 */
export function createKnocking({ prober, clock, textOf, probeOf, proved, failed }: KnockingOptions) {
  const waiting = new Map<Server, Knocks>()
  /** Knocks of the present second, by key. */
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
    // Whatever answers a datagram proves nothing: the server's own report does.
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
    // Others of its key come first from now on.
    waiting.delete(server)
    waiting.set(server, one)
    void knock(server, probe, one)
  }

  return {
    /** Nobody is sent to this server before its address is proved. */
    begin: (server: Server, assignment: Assignment) => void waiting.set(server, newKnocks(assignment)),
    isAwaited: (server: Server) => waiting.has(server),
    /** What the server is told of the datagram that it is to repeat; undefined: none comes. */
    told: (server: Server): string | undefined => {
      const probe = waiting.has(server) ? probeOf(server) : undefined
      return typeof probe === 'object' && probe.kind === 'udp' ? textOf(server, probe.port).slice(0, TOLD) : undefined
    },
    /** The server has reported. @param text the datagram that it has got, as it says */
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
