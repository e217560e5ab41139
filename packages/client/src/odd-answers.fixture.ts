/** Values of each type. */
const ODD: readonly unknown[] = [null, true, 5, -1.5, 'x', [], {}]

type Path = readonly (string | number)[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, one]) => pathsIn(one, [...path, key]))]
}

/** Returns a copy with another value at a path. Undefined removes the value. */
function withValue(value: unknown, [key, ...rest]: Path, other: unknown): unknown {
  if (key === undefined) return other
  if (Array.isArray(value))
    return value.map((one, index) => (String(index) === key ? withValue(one, rest, other) : one))
  const entries = Object.entries(value as object).map(([name, one]) => [
    name,
    name === key ? withValue(one, rest, other) : one,
  ])
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined))
}

/**
 * Variants of a valid response. In each, one value is missing or has another type. Each value appears in three
 * variants.
 */
export function* oddAnswers(good: unknown): Generator<unknown> {
  let nth = 0
  for (const path of pathsIn(good)) {
    const isInList = /^\d+$/.test(String(path.at(-1)))
    if (path.length > 0 && !isInList) yield withValue(good, path, undefined)
    for (let more = 0; more < 2; more += 1) {
      yield withValue(good, path, ODD[nth % ODD.length])
      nth += 1
    }
  }
}
