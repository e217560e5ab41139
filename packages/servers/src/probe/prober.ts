import { createSocket } from 'node:dgram'
import { connect } from 'node:net'

/** A port of a server to knock at. */
export interface ProbeTarget {
  readonly kind: 'tcp' | 'udp'
  readonly host: string
  readonly port: number
  /** Text of the UDP datagram; not used for TCP. */
  readonly payload: string
}

/** Knocks at a port once. Resolves with whether the server answered before the signal was aborted. Never rejects. */
export type Prober = (target: ProbeTarget, signal: AbortSignal) => Promise<boolean>

/** The prober that uses the network of this machine. */
export const networkProber: Prober = (target, signal) => {
  if (signal.aborted) return Promise.resolve(false)
  return target.kind === 'tcp' ? accepts(target, signal) : answers(target, signal)
}

const accepts = ({ host, port }: ProbeTarget, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    const over = (accepted: boolean) => {
      signal.removeEventListener('abort', givenUp)
      socket.destroy()
      resolve(accepted)
    }
    const givenUp = () => over(false)
    signal.addEventListener('abort', givenUp, { once: true })
    socket.once('connect', () => over(true))
    socket.once('error', () => over(false))
  })

const answers = ({ host, port, payload }: ProbeTarget, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4' })
    let isOver = false
    const over = (answered: boolean) => {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', givenUp)
      socket.close()
      resolve(answered)
    }
    const givenUp = () => over(false)
    signal.addEventListener('abort', givenUp, { once: true })
    // The UDP socket is connected, so that only the server's datagrams count as an answer and a closed port causes an
    // error.
    socket.once('error', () => over(false))
    socket.once('message', () => over(true))
    socket.once('connect', () => {
      if (!isOver) socket.send(payload, (error) => error && over(false))
    })
    socket.connect(port, host)
  })
