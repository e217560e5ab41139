/** Runs the commands of docs/own-machines.md: `muster serve` and six game server processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const guide = readFileSync(pathOf('docs/own-machines.md'), 'utf8')
const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(guide) ?? []
const keys = { ARENA_FRA: 'of-the-arena-in-frankfurt-0123456789', GAME_KEY: 'of-the-backend-of-the-game-0123456789' }

/** Runs a program of Node.js and collects its output lines until the test ends. */
function run(program: string, given: string[], env: NodeJS.ProcessEnv, hear: (line: string) => void, cwd?: string) {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child: ChildProcess = spawn(process.execPath, [pathOf(program), ...given], {
    cwd,
    env: { ...process.env, ...env },
    stdio,
  })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  if (child.stdout !== null) createInterface(child.stdout).on('line', hear)
  return { child, ended }
}

const freePort = async (): Promise<number> => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  await new Promise((resolve) => holder.close(resolve))
  return port
}

test('a YAML file of ten lines and three variables match players on six own processes', async () => {
  expect(yaml.trim().split('\n')).toHaveLength(10)
  const folder = mkdtempSync(join(tmpdir(), 'muster-own-machines-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  writeFileSync(join(folder, 'muster.yaml'), `${yaml}listen: { port: ${port} }\n`)
  const { child: muster, ended } = run('packages/server/dist/cli/main.js', ['serve'], keys, () => {}, folder)
  const url = `http://127.0.0.1:${port}`
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${keys.GAME_KEY}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return answer.ok ? answer.json() : answer.status
  }
  const isReady = () => ask('GET', '/readyz').catch(() => undefined)
  await expect.poll(isReady, { interval: 50 }).toMatchObject({ ready: true })

  const players = ['ann', 'ben', 'cas', 'dan', 'eve', 'fay', 'gil', 'hal', 'ivo', 'jan', 'kim', 'leo']
  const tickets = players.map((id) => ({ profile: 'duel', player_id: id, player_ip: '192.0.2.7', attributes: {} }))
  expect(await ask('POST', '/tickets/batch', { tickets })).toBeTypeOf('object')

  const ports = await Promise.all(players.slice(0, 6).map(freePort))
  const servers: ChildProcess[] = []
  const tookMs = await Promise.all(
    ports.map((own) => {
      const begun = performance.now()
      const MUSTER_SERVER_PORTS = `game=${own}/tcp`
      return new Promise<number>((resolve) => {
        const env = { MUSTER_URL: url, MUSTER_ENROL_KEY: keys.ARENA_FRA, MUSTER_SERVER_PORTS }
        const { child } = run('examples/dist/game-server.js', [], env, (line) => {
          if (line.startsWith('match ')) resolve(performance.now() - begun)
        })
        servers.push(child)
      })
    }),
  )
  const listed = tookMs.map((ms) => Math.round(ms)).join(', ')
  process.stdout.write(`from the start of each of six processes to its first match: ${listed} ms\n`)

  interface Playing {
    readonly matches?: readonly {
      readonly match_id: string
      readonly assignment?: { readonly fqdn: string; readonly ports: Record<string, { readonly external: number }> }
    }[]
  }
  const placeOf = async (id: string) => {
    const { matches = [] } = (await ask('GET', `/players/${id}`)) as Playing
    const { fqdn, ports: reached } = matches[0]?.assignment ?? {}
    return reached && `${fqdn} ${reached['game']?.external}`
  }
  const places = () => Promise.all(players.map(placeOf))
  const everyPort = ports.flatMap((own) => [`127.0.0.1 ${own}`, `127.0.0.1 ${own}`])
  await expect.poll(async () => (await places()).toSorted(), { interval: 200 }).toEqual(everyPort.toSorted())
  for (const server of servers) server.kill('SIGKILL')
  muster.kill('SIGTERM')
  expect((await ended)[0]).toBe(0)
}, 120_000)
