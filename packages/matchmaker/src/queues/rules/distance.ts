import { greatCircleKm } from '@muster/core'
import { chordSquared, pointOf } from '@muster/core/internal'
import type { Radius } from '@muster/kernel'
import { z } from 'zod'
import {
  digits,
  limitWords,
  compileApart,
  type RelaxingLimit,
  type Checked,
  type RuleBase,
  type Facts,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type TeamMembers,
  base,
  finite,
  relaxing,
  timedLimits,
} from '../rule-parts/index.js'

/**
 * Any two tickets are at most `maxKm` apart along the great circle. A party's location is the middle of its players.
 */
export interface DistanceRule extends RuleBase {
  readonly kind: 'distance'
  /** Maximum distance in kilometres. */
  readonly maxKm: RelaxingLimit
  /**
   * What happens with tickets of unknown location. `network` (default): they match only tickets of the same network,
   * i.e. the /16 of an IPv4 address or the /32 of an IPv6 address. `refuse`: they are refused when created. `any`: they
   * match any ticket.
   */
  readonly missing?: 'network' | 'refuse' | 'any' | undefined
}

export const distanceSchema = z.strictObject({
  kind: z.literal('distance'),
  ...base,
  maxKm: relaxing(finite.positive(), 'rises'),
  missing: z.enum(['network', 'refuse', 'any']).optional(),
})

export function compileDistance(rule: Checked<DistanceRule>, context: RuleContext): RuleChecks {
  const { missing = 'network' } = rule
  const km = timedLimits(rule, context.levels, rule.maxKm, Infinity)
  const factOf = (ticket: RuleTicket, refuse: Refuse): void => {
    if (ticket.place !== undefined || ticket.players.length === 0) return
    throw refuse('players', `must have a location: rule ${JSON.stringify(rule.name)} requires their coordinates`)
  }
  const demand = missing === 'refuse' ? { factOf } : {}
  const saysOf = (teams: TeamMembers) =>
    teams.flat().filter(({ ticket }) => missing === 'network' || ticket.place !== undefined).length > 1
  if (context.isInner === true) return { ...compileApart(km, nearOf(missing)), saysOf, ...demand }
  const radius: Radius = {
    by: rule.by,
    squared: km.table.map(chordSquared),
    unknown: missing === 'network' ? 'network' : 'any',
  }
  const apart = ({ ticket: one }: Facts, { ticket: other }: Facts): number => {
    if (one.place === undefined || other.place === undefined)
      return missing === 'any' || (one.network !== undefined && one.network === other.network) ? 0 : Infinity
    const [a, b] = [pointOf(one.place), pointOf(other.place)]
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
  }
  return { radius, apart, ...demand }
}

/** True if two tickets are at most `km` apart, by the same rules as the kernel's radius. */
const nearOf =
  (missing: DistanceRule['missing']) =>
  ({ ticket: one }: Facts, { ticket: other }: Facts, km: number): boolean => {
    if (one === other) return true
    if (one.place !== undefined && other.place !== undefined) return greatCircleKm(one.place, other.place) <= km
    return missing === 'any' || (one.network !== undefined && one.network === other.network)
  }

const km = (limit: number) => `${digits(limit)} km`

export function distanceWords({ maxKm, missing = 'network' }: DistanceRule): string {
  const unknown = {
    network: 'players whose place is unknown meet only players of the same network',
    refuse: 'players whose place is unknown are not taken',
    any: 'players whose place is unknown meet anyone',
  }
  return `players meet ${limitWords(maxKm, { lead: 'within', show: km, free: 'anywhere' })}; ${unknown[missing]}`
}
