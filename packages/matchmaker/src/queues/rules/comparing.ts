// pure: comparisons of two values
import type { AcceptsRule, Comparison } from './definition.js'
import type { Scalar } from './values.js'

export function compares(one: number, operator: Comparison, other: number): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    case '>=':
      return one >= other
  }
}

type Value = Scalar | readonly string[]

/** Compares two values by an operator, of types that the operator takes. */
export function holdsBetween(one: Value, operator: AcceptsRule['operator'], other: Value): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case 'in':
      return (other as readonly string[]).includes(one as string)
    case 'not in':
      return !(other as readonly string[]).includes(one as string)
    case 'contains':
      return (one as readonly string[]).includes(other as string)
    case 'excludes':
      return !(one as readonly string[]).includes(other as string)
    default:
      return compares(one as number, operator, other as number)
  }
}
