import type { PacketFault } from './packet-fault.js'

/** The relay that carries the packets of all sessions. */
export interface RelayData {
  /** The address at which peers find it. */
  readonly ip: string
  /** Opens a session's two ports. Undefined when there are none left, and after `close`. */
  open(order: LineOrder): Promise<RelayLine | undefined>
  /** Closes all. */
  close(): Promise<void>
}

export interface LineOrder {
  /** The session's; a secret. */
  readonly token: number
  readonly fault: PacketFault | undefined
}

/** One session on the relay. Knows no users at first. */
export interface RelayLine {
  readonly serverPort: number
  readonly clientPort: number
  authorize(user: { readonly token: number; readonly ip: string }): void
  revoke(token: number): void
  /** How many users are connected now. */
  connected(): number
  /** Releases the ports. */
  close(): Promise<void>
}
