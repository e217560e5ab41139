/** A source file by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

const WIDEST = 120
const LONGEST = 500

/** A line that cannot be wrapped, because the type of the operation is read from this one string. */
const ROUTE =
  /^ *'[A-Z]+ \/v1\/storage\/endpoint\/\{endpoint_name\}\/pull-profile\/\{pull_profile_name\}\/app\/[\w/{}]+',$/

/** Lists the lines over 120 columns and the files over 500 lines, one fault per entry. */
export const layoutFaults = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n')
    const long = lines.length > LONGEST ? [`${path}: has ${lines.length} lines, over ${LONGEST}`] : []
    const wide = lines.flatMap((line, index) =>
      line.length > WIDEST && !ROUTE.test(line)
        ? [`${path}:${index + 1}: has ${line.length} columns, over ${WIDEST}`]
        : [],
    )
    return [...long, ...wide]
  })
