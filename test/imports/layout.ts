/** A source file by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

const WIDEST = 120
const LONGEST = 300
/** What every ticket passes through is read most often, and measured. */
const MAIN_PATH = /^packages\/matchmaker\/src\/(kernel|matches|servers|tickets)\//
const LONGEST_ON_IT = 250
const isTest = (path: string) => /\.(test|fixture)\.ts$/.test(path)

/** A line that cannot be wrapped, because the type of the operation is read from this one string. */
const ROUTE =
  /^ *'[A-Z]+ \/v1\/storage\/endpoint\/\{endpoint_name\}\/pull-profile\/\{pull_profile_name\}\/app\/[\w/{}]+',$/

/** Lists the lines over 120 columns and the files over 300 lines, 250 on the main path, one fault per entry. */
export const layoutFaults = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n')
    const most = MAIN_PATH.test(path) && !isTest(path) ? LONGEST_ON_IT : LONGEST
    const long = lines.length > most ? [`${path}: has ${lines.length} lines, over ${most}`] : []
    const wide = lines.flatMap((line, index) =>
      line.length > WIDEST && !ROUTE.test(line)
        ? [`${path}:${index + 1}: has ${line.length} columns, over ${WIDEST}`]
        : [],
    )
    return [...long, ...wide]
  })
