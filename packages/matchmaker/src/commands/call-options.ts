// pure: options of single calls

export interface CloseOptions {
  /**
   * Whether servers on which people play are stopped too. Default false: they run on, and this process forgets them.
   */
  readonly stopServers?: boolean | undefined
  /**
   * Whether tickets and matches are left to the next process, which goes on with them: then nothing is cancelled or
   * stopped. Default: true with a ticket log and without `stopServers`.
   */
  readonly handOver?: boolean | undefined
  /**
   * Milliseconds to wait for the service to confirm the stops or, when handing over, to answer the creates that were
   * sent. Default 60,000.
   */
  readonly timeoutMs?: number | undefined
}

export interface StopMatchOptions {
  /**
   * When the promise resolves. `recorded`: once the journal has the stop, so that it outlives this process; whatever
   * becomes of it, a process over the same journal carries it out. `stopped` (default): once the deployment service has
   * confirmed the stop.
   */
  readonly until?: 'recorded' | 'stopped' | undefined
}
