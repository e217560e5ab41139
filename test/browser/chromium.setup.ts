import { execFileSync } from 'node:child_process'
import { fetchPackage } from '../../tools/redis-server/src/debian-package.js'
import { chromiumPath, commandIn, fetchedFolder } from './chromium.js'

/**
 * Installs a Chromium for the tests, once for each user, if this machine has none and the system's package archive
 * offers one. If that fails, the browser tests are skipped with a message. Needs no root rights.
 */
export function setup(): void {
  if (chromiumPath !== undefined) return
  process.stdout.write('a Chromium for the tests is fetched …\n')
  try {
    fetchPackage({
      name: 'chromium',
      beside: /^(?:chromium|lib|fonts|fontconfig)/,
      folder: fetchedFolder,
      try: (folder) => {
        const { path, env } = commandIn(folder)
        execFileSync(path, ['--version'], { env: { ...process.env, ...env }, stdio: 'pipe', encoding: 'utf8' })
      },
    })
  } catch (error) {
    process.stdout.write(`no Chromium could be fetched for the tests: ${(error as Error).message}\n`)
  }
}
