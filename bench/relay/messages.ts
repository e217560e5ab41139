/** What the processes of this benchmark tell one another. */

export interface RelaySessionInfo {
  readonly token: number
  /** The first is the host's. */
  readonly userTokens: readonly number[]
  readonly serverPort: number
  readonly clientPort: number
}

/** Two ports of one process: what comes in by the client port leaves by the server port. */
export interface ForwardedPorts {
  readonly serverPort: number
  readonly clientPort: number
}

/** By the process of the relay or of plain forwarding, since its start. */
export interface RelaySpent {
  readonly cpuMicroseconds: number
}

/** By which way packets go. */
export type Way =
  | { readonly kind: 'relay'; readonly sessions: readonly RelaySessionInfo[] }
  /** Through sockets that forward whatever comes, unread. */
  | { readonly kind: 'forwarding'; readonly ports: readonly ForwardedPorts[] }
  /** From socket to socket. */
  | { readonly kind: 'direct' }
  /** Through a TURN server. */
  | { readonly kind: 'turn'; readonly port: number }

export interface Order {
  readonly way: Way
  /** All senders together, in turn, at equal distances. */
  readonly perSecond: number
  /** Bytes of each datagram as it is sent. */
  readonly size: number
  readonly seconds: number
}

export interface Outcome {
  readonly sent: number
  readonly received: number
  /** Of those, what came before the last was sent. */
  readonly receivedInTime: number
  /** With those of the warming up. */
  readonly receivedInAll: number
  /** Of processor time, by the load's own process, with the warming up. */
  readonly cpuMicroseconds: number
  readonly seconds: number
  /** From being sent to being received, in microseconds. */
  readonly latency: { readonly p50: number; readonly p99: number }
}
