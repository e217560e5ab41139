import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Builds the programs that tests run, and bundles the console's page, once before all tests. A type error does not stop
 * the build, because `pnpm typecheck` reports it.
 */
export function setup(): void {
  const node = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    node('node_modules/typescript/bin/tsc', '-b')
  } catch {}
  node('packages/console/bundle.mjs')
}
