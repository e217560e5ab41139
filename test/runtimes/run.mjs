/**
 * `pnpm runtimes`: runs the service's client and the game client in each supported runtime, against an emulator and a
 * ticket API in this process. For each version of Node.js, both sides run in that version. Other runtimes are
 * downloaded when needed, because they have 100 MB each.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const bun = ['npx', '-y', 'bun@1.4.5', 'run']
const deno = ['npx', '-y', 'deno@2.9.6', 'run', '--allow-all', '--no-lock']
/** Supported versions of Node.js, besides the oldest one that works. */
const NODES = ['22', '24', '26']
/** With this option, only the current runtime is tested. */
const ONLY_THIS = '--only-this'
const own = `node${process.versions.node}`
const here = [
  ['client.mjs', own, [process.execPath]],
  ['game-client.mjs', own, [process.execPath]],
]
const elsewhere = [
  ['client.mjs', 'bun', bun],
  ['client.mjs', 'deno', deno],
  ['game-client.mjs', 'bun', bun],
  ['game-client.mjs', 'deno', deno],
  ...NODES.map((major) => ['run.mjs', `node${major}`, ['npx', '-y', '-p', `node@${major}`, 'node']]),
]
/** The programs to run and the runtime of each. */
const runs = process.argv.includes(ONLY_THIS) ? here : [...here, ...elsewhere]
const MOST_MS = 120_000

const emulator = createEmulator({ speed: 20, images: [{ image: 'studio/server', tag: '1.0' }] })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'game' })
const image = { docker_repository: 'registry.emulator.invalid', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'game', name: '1', ...image, req_cpu: 512, req_memory: 512, ports })
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
})
const ticketApi = createTicketApi(matchmaker, {
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined ? undefined : { id }
  },
})
const listener = createServer(nodeListener((request) => ticketApi(request, { remoteAddress: '203.0.113.7' })))
await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
matchmaker.start()
const argumentOf = {
  'client.mjs': url,
  'game-client.mjs': `http://127.0.0.1:${listener.address().port}`,
  'run.mjs': ONLY_THIS,
}

const failed = []
for (const [program, name, [command, ...flags]] of runs) {
  const child = spawn(command, [...flags, path(program), argumentOf[program], name], {
    stdio: 'inherit',
    timeout: MOST_MS,
  })
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  if (code !== 0) failed.push(`${program} in ${name}`)
}
await matchmaker.close({ stopServers: true })
listener.close()
listener.closeAllConnections()
await client.close()
await emulator.close()
if (failed.length > 0) {
  process.stderr.write(`not as it should be: ${failed.join(', ')}\n`)
  process.exitCode = 1
}
