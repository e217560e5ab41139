import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const run = promisify(execFile)

/**
 * Installs packages with npm, as the README describes: into an empty folder, or into a project with its own manifest.
 * Our packages come from the registry of these tests, all others from the registry that npm is configured for.
 * @param args names of packages and options of npm. Default: none
 */
export async function installIn(folder: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = process.env) {
  writeFileSync(join(folder, '.npmrc'), `@muster:registry=${inject('registry')}\n`)
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ private: true }))
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...args], { cwd: folder, env })
}
