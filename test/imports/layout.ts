import { posix } from 'node:path'

/** A source file by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

const WIDEST = 120
const LONGEST = 500
/** Maximum number of source files in a folder of a package. Tests, fixtures and `index.ts` are not counted. */
const MOST_IN_FOLDER = 20

/** A line that cannot be wrapped: TypeScript reads the type of an operation from this one string. */
const ROUTE =
  /^ *'[A-Z]+ \/v1\/storage\/endpoint\/\{endpoint_name\}\/pull-profile\/\{pull_profile_name\}\/app\/[\w/{}]+',$/

/** Returns the lines over 120 columns and the files over 500 lines, one fault per entry. */
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

/** The kernel is made anew next, with folders of its own (docs/ARCHITECTURE.md). */
const EXEMPT = 'packages/kernel/'

/**
 * Returns the folders of packages with more than 20 source files, and the base names that occur twice in a package.
 * `index` may occur several times.
 */
export function folderFaults(paths: readonly string[]): string[] {
  const sources = paths.filter(
    (path) =>
      /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) &&
      !/\.(test|test-d|fixture)\.tsx?$/.test(path) &&
      !path.startsWith(EXEMPT),
  )
  const counted = sources.filter((path) => !path.endsWith('/index.ts'))
  const crowded = Array.from(grouped(counted, posix.dirname), ([folder, { length }]) =>
    length > MOST_IN_FOLDER ? `${folder}: has ${length} source files, over ${MOST_IN_FOLDER}` : '',
  )
  const named = grouped(sources, (path) => `${path.split('/')[1]}/${posix.basename(path).replace(/\.tsx?$/, '')}`)
  const twice = Array.from(named, ([name, all]) =>
    all.length > 1 && !name.endsWith('/index') ? `${all.join(' and ')}: have one base name` : '',
  )
  return [...crowded, ...twice].filter((fault) => fault !== '')
}

function grouped(paths: readonly string[], keyOf: (path: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const path of paths) groups.set(keyOf(path), [...(groups.get(keyOf(path)) ?? []), path])
  return groups
}
