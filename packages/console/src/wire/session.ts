// pure: who looks, and what the program is
import type { History } from './history.js'
import type { Role } from './permissions.js'
import type { Moment } from './units.js'

/** The first event of the feed, `hello`. */
export interface Hello {
  /** The matchmaker's name in the configuration. */
  readonly name: string
  readonly version: string
  readonly startedAt: Moment
  /** The program's clock: the page's may differ. */
  readonly at: Moment
  /** Who the token says one is, as it stands in the log of what operators do. */
  readonly who: string
  readonly role: Role
  /** Whether a crowd of bots may be let in: only in `muster dev`. */
  readonly bots: boolean
  /** Where tickets are kept. */
  readonly store: 'memory' | 'folder' | 'redis'
  readonly history: History
}
