/** A source file by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

const WIDEST = 120
const LONGEST = 300

/** A line that cannot be wrapped, because the type of the operation is read from this one string. */
const ROUTE =
  /^ *'[A-Z]+ \/v1\/storage\/endpoint\/\{endpoint_name\}\/pull-profile\/\{pull_profile_name\}\/app\/[\w/{}]+',$/

/** Files of the kernel that are longer for now, and must not grow. */
const LONGER: ReadonlyMap<string, number> = new Map([
  ['packages/matchmaker/src/kernel/search.ts', 317],
  ['packages/matchmaker/src/kernel/pool.ts', 303],
])

/** Lists the lines over 120 columns and the files over 300 lines, one fault per entry. */
export const layoutFaults = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n')
    const most = LONGER.get(path) ?? LONGEST
    const long = lines.length > most ? [`${path}: has ${lines.length} lines, over ${most}`] : []
    const wide = lines.flatMap((line, index) =>
      line.length > WIDEST && !ROUTE.test(line)
        ? [`${path}:${index + 1}: has ${line.length} columns, over ${WIDEST}`]
        : [],
    )
    return [...long, ...wide]
  })
