import { ENROLLED } from '@muster/matchmaker/internal'
import type { Config } from '../config/index.js'

/** The number of matches that a pool can serve at a time, as far as the configuration states it. */
export interface PoolCapacity {
  /** Servers that may enrol, and the number of matches that they hold together. */
  readonly enrolled: { readonly servers: number; readonly matches: number }
  /** Servers that may be created, each for one match at a time; undefined if none are created. */
  readonly created:
    | undefined
    | {
        /** Name of the source of the servers; undefined for the deployment service. */
        readonly source: string | undefined
        /** Maximum number of servers of the source; undefined if it is not stated. */
        readonly capacity: number | undefined
        /** Maximum number of created servers, from the source or from `spending.maxServers`, which all pools share. */
        readonly most: number
      }
}

type Sourced = Pick<Config, 'sources' | 'spending'>
type Pool = Pick<Config['pools'][number], 'source' | 'enrol'>

export function capacityOf({ source, enrol }: Pool, { sources, spending }: Sourced): PoolCapacity {
  const enrolled = {
    servers: enrol.reduce((sum, { max }) => sum + max, 0),
    matches: enrol.reduce((sum, { max, matches }) => sum + max * matches, 0),
  }
  if (source === ENROLLED) return { enrolled, created: undefined }
  const { launch, capacity: stated } = sources[source ?? ''] ?? {}
  const capacity = launch?.max ?? stated
  return { enrolled, created: { source, capacity, most: Math.min(capacity ?? Infinity, spending.maxServers) } }
}

const inWords = (count: number) => count.toLocaleString('en')

/** Describes the capacity in sentences. */
export function capacitySentences({ enrolled, created }: PoolCapacity): readonly string[] {
  const own =
    enrolled.servers === 0
      ? []
      : [
          `At once, ${inWords(enrolled.servers)} of your own servers at most have room for ` +
            `${inWords(enrolled.matches)} matches.`,
        ]
  if (created === undefined) return own
  const { source, capacity, most } = created
  const from = source === undefined ? 'the deployment service' : `the source ${source}`
  const isOfSource = capacity !== undefined && capacity <= most
  const by = isOfSource ? `which is what ${from} has` : 'by spending.maxServers, which all pools share'
  const unknown =
    capacity !== undefined
      ? []
      : [
          `The capacity of ${from} is unknown here` +
            (source === undefined ? '.' : ': it may have fewer. Say it in capacity, if the hoster does.'),
        ]
  const bound =
    most === Infinity
      ? 'Servers are created without a bound: spending.maxServers is unlimited.'
      : `At once, ${inWords(most)} servers at most are created, ${by}.`
  return [...own, bound, ...unknown]
}
