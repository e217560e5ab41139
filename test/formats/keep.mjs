/**
 * Creates the kept files of the current formats: everything that the program leaves behind when it is killed, in a
 * folder and in Redis, and a crowd and a recording. Run it once after `pnpm build` whenever a format gets a new number.
 * It never overwrites a file. kept-files.test.ts reads the files of all versions.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, openStore, recordTickets } from '@muster/matchmaker'
import { startRedisServer } from '@muster/redis-server'

const kept = fileURLToPath(new URL('kept/', import.meta.url))
const main = fileURLToPath(new URL('../../packages/server/dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-keep-'))
const KEY = 'the-key-of-the-backend-of-the-game'
const env = {
  ...process.env,
  MUSTER_TOKEN: 'dev',
  MUSTER_JWT_SECRET: 'a-secret-of-the-studio-that-signs-players',
  MUSTER_BACKEND_KEY: KEY,
  MUSTER_OPERATOR_KEY: 'the-key-of-live-ops-of-the-game',
}

const emulator = createEmulator({ token: 'dev', speed: 50 })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
await client.close()

/** Brings the program into every state that it stores, and kills it. */
async function live(store) {
  const text = readFileSync(join(kept, 'muster-1.yaml'), 'utf8')
    .replace('http://127.0.0.1:9', url)
    .replace('port: 0', 'port: 18573')
    .replace('store: memory', `store: ${JSON.stringify(store)}`)
  const path = join(folder, 'muster.yaml')
  writeFileSync(path, text)
  const program = spawn(process.execPath, [main, 'serve', '-c', path], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ask = async (method, route, body) => {
    const answer = await fetch(`http://127.0.0.1:18573${route}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${await answer.text()}`)
    return answer.status === 204 ? undefined : answer.json()
  }
  const until = async (isSo) => {
    for (let nth = 0; !(await isSo().catch(() => false)); nth += 1) {
      if (nth > 600) throw new Error('it did not come to be in 30 s')
      await sleep(50)
    }
  }
  await until(() => ask('GET', '/readyz').then(() => true))
  const player = (id, more = {}) => ({
    player_id: id,
    player_ip: '192.0.2.7',
    attributes: { skill: 1000, ...more },
  })
  const create = (profile, id) => ask('POST', '/tickets', { profile, ...player(id) })
  const is = (ticket, status) => until(async () => (await ask('GET', `/tickets/${ticket.id}`)).status === status)

  const playing = [await create('duel', 'ann'), await create('duel', 'ben')]
  for (const one of playing) await is(one, 'HOST_ASSIGNED')
  const waiting = await create('ranked', 'cas')
  const cancelled = await create('ranked', 'dan')
  await ask('DELETE', `/tickets/${cancelled.id}`)
  const group = await ask('POST', '/groups', { profile: 'ranked', ...player('eve'), is_ready: false })
  await ask('POST', '/queues/ranked/pause')
  const ids = { playing: playing.map(({ id }) => id), waiting: waiting.id, group: group.group_id }
  await sleep(1500)
  const ended = once(program, 'exit')
  program.kill('SIGKILL')
  await ended
  return ids
}

const write = (name, text) => writeFileSync(join(kept, name), text)
const isMissing = (name) => !existsSync(join(kept, name))

if (isMissing('store-4')) {
  const ids = await live({ folder: join(folder, 'store') })
  mkdirSync(join(kept, 'store-4'))
  copyFileSync(join(folder, 'store', 'muster.log'), join(kept, 'store-4', 'muster.log'))
  write('store-4/ids.json', `${JSON.stringify(ids, null, 2)}\n`)
}

if (isMissing('redis-2.json')) {
  const redis = await startRedisServer()
  const ids = await live({ redis: { url: redis.url, prefix: 'kept' } })
  const require = createRequire(new URL('../../packages/redis/package.json', import.meta.url))
  const { createClient: connect } = require('@redis/client')
  const reader = connect({ url: redis.url })
  await reader.connect()
  const keys = []
  for (const key of (await reader.sendCommand(['KEYS', '*'])).toSorted()) {
    const type = await reader.sendCommand(['TYPE', key])
    // Streams notify running processes, and rate limits concern the last minutes. Neither is kept.
    const read = { hash: ['HGETALL', key], string: ['GET', key], list: ['LRANGE', key, '0', '-1'] }[type]
    if (read !== undefined) keys.push({ key, type, value: await reader.sendCommand(read) })
  }
  await reader.close()
  await redis.close()
  write('redis-2.json', `${JSON.stringify({ ...ids, keys }, null, 2)}\n`)
}

if (isMissing('recording-1.jsonl')) {
  let lines = ''
  const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'my-game', version: '1.0' } }]
  const deployments = createClient({ baseUrl: url, token: 'dev' }).deployments
  const matchmaker = createMatchmaker({ queues, deployments, store: await openStore({ path: join(folder, 'r.log') }) })
  const recorded = recordTickets(matchmaker, (line) => (lines += line), { queues })
  for (const id of ['ann', 'ben', 'cas']) recorded.createTicket({ queue: 'duel', players: [{ id, ip: '192.0.2.7' }] })
  recorded.cancelTicket(recorded.createTicket({ queue: 'duel', players: [{ id: 'dan', ip: '192.0.2.7' }] }).id)
  await matchmaker.close()
  write('recording-1.jsonl', lines)
}

if (isMissing('crowd-1.jsonl')) {
  const words = [main, 'lab', 'crowd', '--players', '20', '--hours', '0.05', '--out', join(kept, 'crowd-1.jsonl')]
  await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit')
}

rmSync(folder, { recursive: true })
process.exit(0)
