// pure: the service's filters, for any kind of item
import type { Filter } from '@muster/core/api'
import type { Problem } from './problem.js'

/** The fields that can be filtered by, each with a function that reads an item's values. */
export type FilterFields<Item> = Readonly<Record<string, (item: Item) => readonly string[]>>

/** The filter types are public facts. */
const tests: Readonly<Record<string, (has: readonly string[], wanted: readonly string[]) => boolean>> = {
  any: (has, wanted) => wanted.some((value) => has.includes(value)),
  all: (has, wanted) => wanted.every((value) => has.includes(value)),
  not: (has, wanted) => !wanted.some((value) => has.includes(value)),
}

const oneOf = (words: Readonly<Record<string, unknown>>) => Object.keys(words).join(', ')

/**
 * Makes a predicate that an item passes when it passes all filters. An invalid filter is a problem, because ignoring
 * the filter would select too many items.
 */
export function filterBy<Item>(
  fields: FilterFields<Item>,
  filters: readonly Filter[],
  fold: (value: string) => string = (value) => value,
): ((item: Item) => boolean) | Problem {
  const checks: ((item: Item) => boolean)[] = []
  for (const [index, { field, values, filter_type }] of filters.entries()) {
    const read = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (read === undefined)
      return { problem: `filters[${index}].field: must be one of ${oneOf(fields)}, not ${JSON.stringify(field)}` }
    const passes = Object.hasOwn(tests, filter_type) ? tests[filter_type] : undefined
    if (passes === undefined)
      return {
        problem: `filters[${index}].filter_type: must be one of ${oneOf(tests)}, not ${JSON.stringify(filter_type)}`,
      }
    const wanted = values.map(fold)
    checks.push((item) => passes(read(item).map(fold), wanted))
  }
  return (item) => checks.every((check) => check(item))
}
