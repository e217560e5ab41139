/** Values of every type. */
const ODD: readonly unknown[] = [null, true, 5, -1.5, 'x', [], {}]

type Path = readonly (string | number)[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, one]) => pathsIn(one, [...path, key]))]
}

/** A copy in which the value at a path is another one; undefined: it is left out. */
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

/** A good answer with one value at a time left out, or of another type: each value, three ways in turn. */
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
