/**
 * Keeps texts beyond the memory of a process, within bounds of time and size: in a folder, or in Redis for several
 * processes together.
 */
export interface EventStore {
  /** Whether other processes append too. */
  readonly isShared: boolean
  /**
   * Calls `take` with all texts that earlier processes have left, oldest first. If the store is shared, it calls `take`
   * with later texts too, whoever appends them. Resolves once all that was there at the call has been taken. Called
   * once.
   * @throws the error of the disk or of Redis; what was read until then has been taken
   */
  follow(take: (texts: readonly string[]) => void): Promise<void>
  /** Resolves once the texts are kept. @throws the error of the disk or of Redis; then none of them need be kept */
  append(texts: readonly string[]): Promise<void>
  /** Resolves when nothing is under way any more. Calling it again changes nothing. */
  close(): Promise<void>
}

/** How much an event store keeps; whichever bound is reached first counts. */
export interface EventBounds {
  /** Milliseconds. */
  readonly keepMs: number
  readonly mostBytes: number
}
