/** The messages between the processes of this benchmark. */

export interface RelaySessionInfo {
  readonly token: number
  /** Tokens of the users. The first one is the host's. */
  readonly userTokens: readonly number[]
  readonly serverPort: number
  readonly clientPort: number
}

/** Two ports of a process. It forwards packets from the client port to an address, from the server port. */
export interface ForwardedPorts {
  readonly serverPort: number
  readonly clientPort: number
}

/** CPU time that the process of the relay or of plain forwarding has used since its start. */
export interface RelaySpent {
  readonly cpuMicroseconds: number
}

/** The way by which packets are sent. */
export type Way =
  | { readonly kind: 'relay'; readonly sessions: readonly RelaySessionInfo[] }
  /** Through sockets that forward every packet without reading it. */
  | { readonly kind: 'forwarding'; readonly ports: readonly ForwardedPorts[] }
  /** From socket to socket, without a relay. */
  | { readonly kind: 'direct' }
  /** Through a TURN server. */
  | { readonly kind: 'turn'; readonly port: number }

export interface Order {
  readonly way: Way
  /** Packets per second of all senders together. They send in turn, at equal intervals. */
  readonly perSecond: number
  /** Size of each sent datagram in bytes. */
  readonly size: number
  readonly seconds: number
}

export interface Outcome {
  readonly sent: number
  readonly received: number
  /** Number of packets that arrived before the last one was sent. */
  readonly receivedInTime: number
  /** Number of packets that arrived, including those of the warm-up. */
  readonly receivedInAll: number
  /** CPU microseconds of the load's own process, including the warm-up. */
  readonly cpuMicroseconds: number
  readonly seconds: number
  /** Microseconds from sending a packet to receiving it. */
  readonly latency: { readonly p50: number; readonly p99: number }
}
