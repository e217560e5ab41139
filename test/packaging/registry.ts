import { execFile, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listenAt, portOf, shut } from './dev-typed.js'

const run = promisify(execFile)

/**
 * The last version that runs on Node.js 20. It is no dependency of the repository, because only these tests need its 58
 * MB.
 */
const VERDACCIO = 'verdaccio@6.8.0'
const STARTS_WITHIN_MS = 60_000

export interface Registry {
  readonly url: string
  /** Environment variables with which npm publishes to the registry. */
  readonly env: Readonly<Record<string, string>>
  readonly close: () => void
}

/**
 * Installs a registry in the folder and starts it on loopback. It serves only packages that are published to it, and
 * asks no other registry.
 */
export async function openRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder)
  // Verdaccio depends on a tag of node-fetch, which some mirrors lack.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ overrides: { 'node-fetch': '2.7.0' } }))
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', '--ignore-scripts']
  await run('npm', ['install', ...flags, VERDACCIO], { cwd: folder })
  const config = {
    storage: './storage',
    packages: { '**': { access: '$all', publish: '$anonymous' } },
    log: { type: 'stdout', level: 'warn' },
    web: { enable: false },
  }
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))

  const free = await listenAt()
  const address = `127.0.0.1:${portOf(free)}`
  await shut(free)
  const args = ['node_modules/verdaccio/bin/verdaccio', '--config', 'config.yaml', '--listen', address]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    // Verdaccio warns if it runs as root, as it may in CI.
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://${address}/`
  const until = Date.now() + STARTS_WITHIN_MS
  for (;;) {
    const status = await fetch(`${url}-/ping`).then((answer) => answer.status, String)
    if (status === 200) break
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${VERDACCIO} does not start: ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // npm publishes only with a token, even to a registry that does not check it.
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `//${address}/:_authToken=nobody\n`)
  return { url, env: { npm_config_registry: url, npm_config_userconfig: npmrc }, close: () => child.kill() }
}
