import { z } from 'zod'
import type { Checked, RuleBase, Facts, RuleChecks, RuleContext, TeamMembers } from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * Enough players of a team can play each role. A player who can play several roles fills only one of them. The other
 * players of the team may have any role.
 */
export interface RolesRule extends RuleBase {
  readonly kind: 'roles'
  /**
   * The minimum number of players for each role. With `{ min, max }`, also the maximum number of players who can play
   * no other role.
   */
  readonly roles: Readonly<Record<string, number | { readonly min: number; readonly max?: number | undefined }>>
  /** Name of a team. The rule applies to each team of that name. Default: every team. */
  readonly team?: string | undefined
}

/** Maximum number of roles of a rule (our choice). The rule checks every set of roles, so more roles would be slow. */
const MOST_ROLES = 8

const ROLE_COUNT = 'must be a whole number from 0, or { min, max } with min at most max'
const whole = z.int().min(0)
const roleCount = z
  .union([whole, z.strictObject({ min: whole, max: whole.optional() })], ROLE_COUNT)
  .refine((count) => typeof count === 'number' || (count.max ?? count.min) >= count.min, ROLE_COUNT)

export const rolesSchema = z.strictObject({
  kind: z.literal('roles'),
  ...parts.base,
  roles: z.record(parts.textSchema, roleCount).refine((counts) => {
    const count = Object.keys(counts).length
    return count >= 1 && count <= MOST_ROLES
  }, `must be 1 to ${MOST_ROLES} roles`),
  team: parts.textSchema.optional(),
})

/** For each player of a ticket, a bit for each role that the player can play; 0 for a player who can play none. */
interface Playable {
  readonly roles: readonly number[]
  /** The bit of the only role that a player can play; 0 for players with several roles or none. */
  readonly only: readonly number[]
}

/** A set of roles, and the number of players that it requires. */
interface RoleSet {
  readonly roles: number
  readonly players: number
}

/**
 * Maximum number of role sets that become quotas. Above it, only single roles become quotas, because each quota costs
 * time for each candidate.
 */
const MOST_QUOTAS = 31
/** The limit of a quota that has no limit. */
const ANY = 65_535
const AT_LEVEL_0 = { youngest: 0, oldest: 0, average: 0, now: 0 }

const isOne = (bits: number) => (bits & (bits - 1)) === 0

export function compileRoles(rule: Checked<RolesRule>, { index, levels, teams }: RuleContext): RuleChecks {
  const counts = parts.tableOf(levels, 1, 0, rule)
  const timing = parts.timingOf(rule, levels, parts.isSteady(levels, counts))
  const roles = Object.entries(rule.roles).map(([name, count]) => {
    const { min, max = Infinity } = typeof count === 'number' ? { min: count } : count
    return { name, min, max }
  })
  const bits = new Map(roles.map(({ name }, at) => [name, 1 << at]))
  const bitOf = (role: string | undefined) => bits.get(role ?? '') ?? 0
  const together = togetherOf(roles.map(({ min }) => min))
  const bounded = roles.filter(({ max }) => max < Infinity).map(({ name, max }) => ({ role: bitOf(name), max }))
  const own = teams.flatMap((team, at) => (rule.team === undefined || team.kind === rule.team ? [at] : []))

  /**
   * True if each team has enough players for its roles.
   * @param roomOf number of players that may still join each team. Default: none.
   */
  const allows = (match: TeamMembers, level: number, roomOf: readonly number[] | undefined): boolean => {
    if (counts[level] === 0) return true
    for (const team of own) {
      const members = match[team] ?? []
      const room = roomOf?.[team] ?? 0
      for (const some of together)
        if (some.players > room && some.players - countOf(members, index, some.roles) > room) return false
      for (const { role, max } of bounded) if (onlyOf(members, index, role) > max) return false
    }
    return true
  }

  /** Returns a table by level: `count` where the rule applies, otherwise `off`. */
  const tableAt = (count: number, off: number) =>
    Uint16Array.from(counts, (_, level) => (counts[timing.ofPair(level)] === 0 ? off : Math.min(count, ANY)))
  const isFew = together.length <= MOST_QUOTAS
  return {
    factOf: ({ players }): Playable => ({
      roles: players.map((player) => player.roles.reduce((all, role) => all | bitOf(role), 0)),
      only: players.map((player) => (player.roles.length === 1 ? bitOf(player.roles[0]) : 0)),
    }),
    quotas: [
      ...(isFew ? together : together.filter((some) => isOne(some.roles))).map((some) => ({
        countOf: (facts: Facts) => countOf([facts], index, some.roles),
        teams: own,
        least: tableAt(some.players, 0),
        isSpared: isOne(some.roles),
      })),
      ...bounded.map(({ role, max }) => ({
        countOf: (facts: Facts) => onlyOf([facts], index, role),
        teams: own,
        least: tableAt(0, 0),
        most: tableAt(max, ANY),
      })),
    ],
    quotasDecide: isFew && levels.at.every((_, level) => timing.ofMatch({ ...AT_LEVEL_0, youngest: level }) === level),
    part: (match, roomOf, wait) => allows(match, timing.ofPart(wait), roomOf),
    whole: (match, wait) => allows(match, timing.ofMatch(wait), undefined),
    shortage: (everyone) =>
      together.reduce(
        (most, some) => Math.max(most, some.players * own.length - countOf(everyone, index, some.roles)),
        0,
      ),
  }
}

/**
 * Returns all sets of roles that require players, created once for each queue. There are at most 255, because a rule
 * has up to eight roles. By Hall's theorem, all roles can be filled exactly if, for each set of roles, enough players
 * can play one of its roles. The largest shortage of any set is the number of players that must still join.
 */
function togetherOf(least: readonly number[]): RoleSet[] {
  const sets: RoleSet[] = []
  for (let set = 1; set < 1 << least.length; set += 1) {
    const roles = least.filter((_, role) => (set & (1 << role)) !== 0)
    if (!roles.includes(0)) sets.push({ roles: set, players: roles.reduce((sum, players) => sum + players, 0) })
  }
  return sets
}

/** Returns the number of team members who can play one of these roles. */
function countOf(team: readonly Facts[], index: number, roles: number): number {
  let count = 0
  for (const { of } of team)
    for (const playable of (of[index] as Playable).roles) if ((playable & roles) !== 0) count += 1
  return count
}

function onlyOf(team: readonly Facts[], index: number, role: number): number {
  let count = 0
  for (const { of } of team) for (const only of (of[index] as Playable).only) if (only === role) count += 1
  return count
}

export function rolesWords({ roles, team }: RolesRule): string {
  const counts = Object.entries(roles).map(([role, count]) => {
    const { min, max } = typeof count === 'number' ? { min: count, max: undefined } : count
    return { role, min, max }
  })
  const whose = parts.teamOf(team)
  const needed = counts.filter(({ min }) => min > 0)
  const bounded = counts.filter(({ max }) => max !== undefined)
  if (needed.length + bounded.length === 0) return `${whose} needs nobody for ${parts.listed(Object.keys(roles))}`
  const seats = needed.map(
    ({ role, min }, index) => `${parts.inWords(min)}${index === 0 ? playing(min) : ''} for ${role}`,
  )
  const most = bounded.map(({ role, max = 0 }) => `at most ${parts.inWords(max)} who can play only ${role}`)
  const has = seats.length === 0 ? [] : [`${whose} has ${parts.listed(seats)}, all different players`]
  return [
    ...has,
    ...(most.length === 0 ? [] : [`${seats.length === 0 ? whose : 'it'} has ${parts.listed(most)}`]),
  ].join('; ')
}

const playing = (count: number) => (count === 1 ? ' player' : ' players')
