import { posix } from 'node:path'
import type { Tree } from './rules.js'

/** Entry points of folders besides `index.ts`: files that can be loaded without everything that `index.ts` exports. */
const FURTHER_ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
  // `index.ts` loads all zod schemas, which a client needs only at its first call.
  'packages/core/src/api': ['api.ts', 'fields.ts', 'documented-limits.ts', 'settings.ts', 'value-limits.ts'],
  // Loads only the emulator, not the server.
  'packages/server/src/dev': ['dev-emulator.ts'],
  // Loads @muster/redis only if a store is in Redis.
  'packages/server/src/running/stores': ['redis-matching.ts'],
  // Loads OpenTelemetry only if metrics are enabled.
  'packages/server/src/telemetry': ['metrics.ts'],
}

/** The kernel has only 26 files: entry points would add one file for every four. */
const EXEMPT = 'packages/kernel/'

const isSource = (path: string) =>
  /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) &&
  !/\.(test|test-d|fixture)\.tsx?$/.test(path) &&
  !path.startsWith(EXEMPT)
const isIndex = (path: string) => /\/index\.tsx?$/.test(path)

/** Returns the outermost folder in `src` that contains `to`, but not `from`. */
function enteredFolder(from: string, to: string): string | undefined {
  const parts = to.split('/')
  const folders = parts.slice(3, -1).map((_, index) => parts.slice(0, index + 4).join('/'))
  return folders.find((folder) => !from.startsWith(`${folder}/`))
}

/**
 * Returns the imports that bypass a folder's entry point: its `index.ts`, or the only file of the folder that others
 * import. An entry point must re-export from the declaring files, not from another entry point. Tests and fixtures may
 * import every file of their package, because they test its internals.
 */
export function entryPointFaults({ modules, entryPoints }: Tree): string[] {
  const gathers = new Set(entryPoints.values())
  const entries = new Map<string, { from: string; to: string }[]>()
  const chains: string[] = []
  for (const { path: from, imports } of modules.values()) {
    if (!isSource(from)) continue
    for (const { specifier, reexports } of imports) {
      if (!specifier.startsWith('.')) continue
      const js = posix.join(posix.dirname(from), specifier)
      const to = modules.has(js.replace(/\.js$/, '.tsx')) ? js.replace(/\.js$/, '.tsx') : js.replace(/\.js$/, '.ts')
      if (!isSource(to)) continue
      const isGathering = gathers.has(from) || (isIndex(from) && to.startsWith(`${posix.dirname(from)}/`))
      const isNear = posix.dirname(from) === posix.dirname(to)
      if (reexports && (isIndex(to) || !(isGathering || isNear))) chains.push(`${from}: passes on what ${to} has`)
      const folder = enteredFolder(from, to)
      if (folder === undefined || isGathering) continue
      if (FURTHER_ENTRY_POINTS[folder]?.includes(posix.relative(folder, to)) === true) continue
      entries.set(folder, [...(entries.get(folder) ?? []), { from, to }])
    }
  }
  const passing = Array.from(entries, ([folder, all]) => {
    const [only = '', ...others] = new Set(all.map(({ to }) => to))
    const entryPoint = others.length === 0 && posix.dirname(only) === folder ? only : `${folder}/index.ts`
    return all.flatMap(({ from, to }) =>
      to === entryPoint ? [] : [`${from}: imports ${to}, past the entry point ${entryPoint}`],
    )
  })
  return [...passing.flat(), ...chains]
}
