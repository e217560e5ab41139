// pure: all rules of a queue as one
import type { Checks } from '@muster/kernel'
import type { CompiledRule } from './compiled-rule.js'
import type { Facts } from './facts.js'

/** Joins the checks of all rules into one, which passes only what every rule passes. */
export function checksOf(rules: readonly CompiledRule[]): Checks<Facts> | undefined {
  const pairs = rules.flatMap(({ pair }) => pair ?? [])
  const parts = rules.flatMap(({ part }) => part ?? [])
  const wholes = rules.flatMap(({ whole }) => whole ?? [])
  const unevennesses = rules.flatMap(({ unevenness }) => unevenness ?? [])
  if (pairs.length + parts.length + wholes.length + unevennesses.length === 0) return undefined
  const [pair, part, whole, unevenness] = [pairs[0], parts[0], wholes[0], unevennesses[0]]
  return {
    pair:
      pairs.length <= 1
        ? pair
        : (one, other, level) => {
            for (const test of pairs) if (!test(one, other, level)) return false
            return true
          },
    part:
      parts.length <= 1
        ? part
        : (teams, roomOf, levels, others) => {
            for (const test of parts) if (!test(teams, roomOf, levels, others)) return false
            return true
          },
    whole:
      wholes.length <= 1
        ? whole
        : (teams, levels) => {
            for (const test of wholes) if (!test(teams, levels)) return false
            return true
          },
    unevenness:
      unevennesses.length <= 1 ? unevenness : (teams) => unevennesses.reduce((sum, one) => sum + one(teams), 0),
    needs: rules.flatMap(({ needs }) => needs ?? []),
    timed: rules.some((one) => one.timed === true || (one.whole !== undefined && one.rule.by === 'average')),
  }
}
