import type { RequireRule } from './require.js'
import type { RulePlayer } from '../rule-parts/rule-types.js'
import type { Missing } from '../rule-parts/rule-base.js'

export const valueOf = (player: RulePlayer, attribute: string): unknown => player.attributes[attribute]

/**
 * Returns the players' values that count: their own values and the defaults that replace missing values. A player for
 * whom any value is accepted has none.
 */
export function valuesOf<Value>(
  players: readonly RulePlayer[],
  attribute: string,
  missing: Missing<Value> = 'refuse',
): Value[] {
  const standIn = typeof missing === 'object' ? missing.value : undefined
  return players
    .map((player) => valueOf(player, attribute) ?? standIn)
    .filter((value) => value !== undefined) as Value[]
}

export function aggregate(how: 'avg' | 'min' | 'max' | 'sum', values: readonly number[]): number | undefined {
  const sum = values.reduce((a, b) => a + b, 0)
  if (how === 'sum') return sum
  if (values.length === 0) return undefined
  return how === 'avg' ? sum / values.length : how === 'min' ? Math.min(...values) : Math.max(...values)
}

export function compare(one: unknown, operator: RequireRule['operator'], other: unknown): boolean {
  if (operator === '=') return one === other
  if (operator === '!=') return one !== other
  if (operator === 'in') return (other as unknown[]).includes(one)
  if (operator === 'not in') return !(other as unknown[]).includes(one)
  if (operator === 'contains') return (one as unknown[]).includes(other)
  if (operator === 'excludes') return !(one as unknown[]).includes(other)
  const [a, b] = [one as number, other as number]
  return { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[operator]
}
