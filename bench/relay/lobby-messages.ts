/** What the process with the lobbies tells, and what both sides have to know. */
export const LOBBIES = 10_000
/** Of each lobby. */
export const MEMBERS = 8

export interface LobbiesMeasured {
  /** From when a join is due until it is done. */
  readonly joinMicroseconds: { readonly p50: number; readonly p99: number; readonly most: number }
  /** As far as they have been kept up. */
  readonly joinsPerSecond: number
  /** Though there was room. */
  readonly joinsRefused: number
  /** Of a core, while joins and signs of life come in. */
  readonly cpuShare: number
  /** One after the other, as fast as possible. */
  readonly fillPerSecond: number
  /** Of memory in use after a collection, by lobby. */
  readonly bytesEach: number
}
