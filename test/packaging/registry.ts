import { execFile, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listenAt, portOf, shut } from './dev-typed.js'

const run = promisify(execFile)

/** The last one that runs on Node.js 20. It is not a dependency of the repository: only these tests need its 58 MB. */
const VERDACCIO = 'verdaccio@6.8.0'
const STARTS_WITHIN_MS = 60_000

export interface Registry {
  readonly url: string
  /** The environment in which npm publishes to it. */
  readonly env: Readonly<Record<string, string>>
  readonly close: () => void
}

/** Installs a registry in the folder and starts it on loopback. It has what is published to it, and asks no other. */
export async function openRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder)
  // Something in it asks for node-fetch by a tag, which not every mirror has.
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
    // It warns of root, as which CI may run.
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
  // npm publishes nothing without a token, even where none is asked for.
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `//${address}/:_authToken=nobody\n`)
  return { url, env: { npm_config_registry: url, npm_config_userconfig: npmrc }, close: () => child.kill() }
}
