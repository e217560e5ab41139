import { createSocket, type SocketOptions } from 'node:dgram'
import { connect, isIP } from 'node:net'
import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { linkedSignal, within } from '@muster/core/internal'
import type { Assignment, PortProbe, Server } from '../records/index.js'

/** Finds out whether a READY server listens: by waiting, by probing a port, or by the server's registration. */
export type ListenCheck = ReturnType<typeof createListening>

interface ListeningOptions {
  readonly prober: Prober
  readonly clock: Clock
  /** Called with the result of a check, unless `forget` has ended the check. */
  readonly listened: (server: Server, listens: boolean) => void
  readonly problem: (error: unknown, server: Server) => void
}

const GAP_MS = 250
/** Milliseconds of one wait for a registration. Muster waits as often as fits into `withinMs`. */
const WAIT_MS = 1000

export function createListening({ prober, clock, listened, problem }: ListeningOptions) {
  const underWay = new Map<Server, { readonly ending: AbortController; readonly heard: () => void }>()

  /**
   * Probes a port until the server answers or `withinMs` is over. Each failed probe uses up at most its timeout and the
   * gap to the next, so that the time for which this process is suspended does not count.
   */
  const knock = async (probe: PortProbe, target: ProbeTarget, signal: AbortSignal): Promise<boolean> => {
    let leftMs = probe.withinMs
    while (leftMs > 0) {
      const begunAt = clock.now()
      const over = linkedSignal(signal)
      void clock.sleep(probe.timeoutMs, over.signal).then(
        () => over.abort(),
        () => {},
      )
      const answered = await prober(target, over.signal)
      over.unlink()
      over.abort()
      if (answered || signal.aborted) return answered
      await clock.sleep(GAP_MS, signal)
      leftMs -= Math.min(clock.now() - begunAt, probe.timeoutMs + GAP_MS)
    }
    return false
  }

  const find = async (
    server: Server,
    assignment: Assignment,
    heard: Promise<void>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { warmUpMs = 0, probe } = server.order?.deploy ?? {}
    if (warmUpMs > 0) await clock.sleep(warmUpMs, signal)
    if (probe === undefined) return true
    if (probe.kind === 'registration') {
      // Wait in short steps. While this process is suspended, at most one step passes, so a suspension does not use up
      // `withinMs`.
      for (let leftMs = probe.withinMs; leftMs > 0 && !server.registered && !signal.aborted; leftMs -= WAIT_MS)
        await within(heard, Math.min(WAIT_MS, leftMs), clock, signal).catch(() => {})
      return server.registered
    }
    const port = assignment.ports[probe.port]?.external
    if (port === undefined) {
      const message = `the server has no port ${JSON.stringify(probe.port)}, which the probe needs`
      throw new InvalidInput(message, { field: 'probe.port' })
    }
    const { kind, payload } = probe
    return knock(probe, { kind, payload, port, host: assignment.publicIp ?? assignment.fqdn }, signal)
  }

  const run = async (server: Server, assignment: Assignment): Promise<void> => {
    const ending = new AbortController()
    const { signal } = ending
    let heard = () => {}
    const hearing = new Promise<void>((resolve) => (heard = resolve))
    underWay.set(server, { ending, heard })
    let listens = false
    try {
      listens = await find(server, assignment, hearing, signal)
    } catch (error) {
      if (!signal.aborted) problem(error, server)
    }
    if (signal.aborted) return
    underWay.delete(server)
    listened(server, listens)
  }

  const forget = (server: Server) => {
    underWay.get(server)?.ending.abort()
    underWay.delete(server)
  }

  return {
    /** Begins to check whether a server listens. Without a warm-up and a probe, it counts as listening at once. */
    begin: (server: Server, assignment: Assignment) => {
      const { warmUpMs = 0, probe } = server.order?.deploy ?? {}
      if (warmUpMs === 0 && probe === undefined) listened(server, true)
      else void run(server, assignment)
    },
    /** Records that the server has registered as ready for players. */
    registered: (server: Server) => {
      server.registered = true
      underWay.get(server)?.heard()
    },
    /** Ends the check of a server without a result. */
    forget,
    /** Ends all checks without results. */
    close: () => {
      for (const server of underWay.keys()) forget(server)
    },
  }
}

/** A port of a server, and how to probe it. */
export interface ProbeTarget {
  readonly kind: 'tcp' | 'udp'
  readonly host: string
  readonly port: number
  /** Content of the UDP datagram. Ignored for TCP. */
  readonly payload: string
}

/** Probes a port once. Resolves with true if the server answered before the signal aborted. Never rejects. */
export type Prober = (target: ProbeTarget, signal: AbortSignal) => Promise<boolean>

/** Resolves a host name to an address of one family. */
type Lookup = (
  host: string,
  family: 4 | 6,
  found: (error: Error | null, address: string, family: number) => void,
) => void

/** Creates a prober. @param lookup resolves host names for UDP. Default: that of the operating system */
export const createNetworkProber =
  (lookup?: Lookup): Prober =>
  (target, signal) => {
    if (signal.aborted) return Promise.resolve(false)
    return target.kind === 'tcp' ? accepts(target, signal) : answers(target, signal, lookup)
  }
export const networkProber = createNetworkProber()

/**
 * Resolves with true if the server answered, and with false if the signal aborts.
 * @param open starts the probe, and returns a function that stops it
 */
const knockOnce = (signal: AbortSignal, open: (over: (answered: boolean) => void) => () => void): Promise<boolean> =>
  new Promise((resolve) => {
    let isOver = false
    const over = (answered: boolean) => {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', givenUp)
      close()
      resolve(answered)
    }
    const givenUp = () => over(false)
    signal.addEventListener('abort', givenUp, { once: true })
    const close = open(over)
  })

const accepts = ({ host, port }: ProbeTarget, signal: AbortSignal): Promise<boolean> =>
  knockOnce(signal, (over) => {
    const socket = connect({ host, port })
    socket.once('connect', () => over(true))
    socket.once('error', () => over(false))
    return () => socket.destroy()
  })

/** Returns the kinds of sockets that may reach a host: both for a name, which may have addresses of both families. */
const socketsFor = (host: string): readonly ('udp4' | 'udp6')[] => {
  const family = isIP(host)
  return family === 0 ? ['udp4', 'udp6'] : [family === 4 ? 'udp4' : 'udp6']
}

const answers = ({ host, port, payload }: ProbeTarget, signal: AbortSignal, lookup?: Lookup): Promise<boolean> =>
  knockOnce(signal, (over) => {
    const sockets = socketsFor(host).map((type) => createSocket({ type, lookup: lookup as SocketOptions['lookup'] }))
    const left = new Set(sockets)
    for (const socket of sockets) {
      const failed = () => left.delete(socket) && left.size === 0 && over(false)
      // The UDP socket is connected: only datagrams of the server arrive, and a closed port causes an error.
      socket.on('error', failed)
      socket.once('message', () => over(true))
      socket.once('connect', () => {
        if (!signal.aborted) socket.send(payload, (error) => error && failed())
      })
      socket.connect(port, host)
    }
    return () => {
      for (const socket of sockets) socket.close()
    }
  })
