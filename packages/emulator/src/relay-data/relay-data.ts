import type { PacketFault } from './packet-fault.js'

/** The relay that carries the packets of all sessions. */
export interface RelayData {
  /** The relay's IP address for peers. */
  readonly ip: string
  /** Opens a session's two ports. Undefined when no ports are free, and after `close`. */
  open(order: LineOrder): Promise<RelayLine | undefined>
  /** Closes the ports of all sessions. */
  close(): Promise<void>
}

export interface LineOrder {
  /** The session's token. A secret. */
  readonly token: number
  readonly fault: PacketFault | undefined
}

/** One session on the relay; without users at first. */
export interface RelayLine {
  readonly serverPort: number
  readonly clientPort: number
  authorize(user: { readonly token: number; readonly ip: string }): void
  revoke(token: number): void
  /** The number of users connected now. */
  connected(): number
  /** Releases the ports. */
  close(): Promise<void>
}
