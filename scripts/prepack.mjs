// Runs before a package is packed. Builds the package anew, and fails if an entry point is missing.
// Usage: node prepack.mjs [script ...], with the scripts that bundle the built files.
// MUSTER_PACK_BUILT=1 packs the existing build, for a fresh clone in which only the present sources were built.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'

const { name, publishConfig } = JSON.parse(readFileSync('package.json', 'utf8'))

if (process.env.MUSTER_PACK_BUILT !== '1') {
  // Removes the old build, because the output of deleted source files would be shipped too.
  rmSync('dist', { recursive: true, force: true })
  execFileSync('tsc', ['-b'], { stdio: 'inherit', shell: process.platform === 'win32' })
}
for (const script of process.argv.slice(2)) execFileSync(process.execPath, [script], { stdio: 'inherit' })

const targets = [publishConfig.exports ?? {}, publishConfig.bin ?? {}].flatMap(
  (entry) => JSON.stringify(entry).match(/\.\/dist\/[^"]+/g) ?? [],
)
const missing = targets.filter((target) => !existsSync(target))
if (targets.length === 0 || missing.length > 0) {
  console.error(
    `${name} is not packed: ${targets.length === 0 ? 'it has no entry points' : `${missing.join(', ')} was not built`}`,
  )
  process.exit(1)
}
