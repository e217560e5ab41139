import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Bundles the console's page once, before all tests: some of them open it. */
export function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../packages/console/bundle.mjs', import.meta.url))], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
