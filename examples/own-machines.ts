/**
 * Six processes on a machine of one's own serve matches. They are the game server of `game-server.ts`. Their
 * environment tells them where Muster is, and a key of the pool:
 *
 *     node examples/dist/own-machines.js
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createPort } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'

const KEY = 'of-the-arena-in-frankfurt-0123456789'

const emulator = createEmulator({ page: false, token: 'of-the-service' })
const { url: service } = await emulator.listen()
const client = createClient({ baseUrl: service, token: 'of-the-service' })
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
  pools: [
    {
      name: 'arena',
      places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
      reuse: { maxMatches: 1000 },
      enrol: [{ key: KEY, place: 'Frankfurt', max: 6 }],
    },
  ],
  tickMs: 50,
})
const api = createTicketApi(matchmaker, {
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined || id === KEY ? undefined : { id }
  },
})
const listener = createServer(nodeListener(api))
listener.listen(0, '127.0.0.1')
await once(listener, 'listening')
const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
matchmaker.start()

const freePort = async (): Promise<number> => {
  const holder = createPort().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  holder.close()
  await once(holder, 'close')
  return port
}
const ports = await Promise.all([1, 2, 3, 4, 5, 6].map(freePort))

const begun = performance.now()
const program = fileURLToPath(new URL('game-server.js', import.meta.url))
const processes = ports.map((port): ChildProcess => {
  const env = { ...process.env, MUSTER_URL: url, MUSTER_ENROL_KEY: KEY, MUSTER_SERVER_PORTS: `game=${port}/tcp` }
  return spawn(process.execPath, [program], { env, stdio: 'inherit' })
})
const exits = processes.map((one) => once(one, 'exit'))

const assigned = new Promise<number>((resolve, reject) => {
  let count = 0
  matchmaker.on('serverAssigned', ({ assignment }) => {
    const port = assignment.ports['game']?.external ?? 0
    console.log(`${Math.round(performance.now() - begun)} ms: a match at ${assignment.fqdn}:${port}`)
    if (!ports.includes(port)) reject(new Error(`no process listens on port ${port}`))
    count += 1
    if (count === ports.length) resolve(count)
  })
})
for (const name of ['ann', 'cas', 'eve', 'gil', 'ivo', 'kim'])
  for (const id of [name, `${name}-2`])
    await fetch(`${url}/tickets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${id}`, 'content-type': 'application/json' },
      body: JSON.stringify({ profile: 'duel' }),
    })
console.log(`${await assigned} matches on six processes, none of them started by Muster`)

for (const one of processes) one.kill('SIGTERM')
await Promise.all(exits)
await matchmaker.close({ stopServers: true })
await client.close()
await emulator.close()
listener.close()
listener.closeAllConnections()
