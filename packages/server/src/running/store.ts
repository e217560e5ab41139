import type { ClientOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Config } from '../config/config.js'
import type { Matching, MatchingOptions } from './matching.js'

export interface StoreOptions {
  readonly config: Config
  readonly clock: Clock
  readonly onProblem: MatchingOptions['onProblem']
}

/** Where the program remembers. */
export interface Store {
  /** Keeps the service's limits together with other processes. */
  readonly limiter?: ClientOptions['limiter'] | undefined
  readonly openMatching: (options: MatchingOptions) => Promise<Matching>
  /** Called last, when the client of the service is closed. */
  readonly close: () => Promise<void>
}
