/** Tests tickets that outlive their process, which is ended by kill -9 during its work or by SIGTERM. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator, type EmulatorOptions } from '@muster/emulator'
import { afterAll, expect, test } from 'vitest'
import { publishGame } from './game.js'
import { until } from './studio.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folders: string[] = []
/** Processes that are left when a test fails. */
const living = new Set<ChildProcess>()

afterAll(() => {
  for (const child of living) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true })
})

interface Known {
  readonly id: string
  readonly createdAt: number
}
interface Message {
  readonly waiting?: readonly Known[]
  readonly created?: Known
  readonly cancelled?: string
  readonly assigned?: readonly string[]
  readonly problem?: string
  readonly closedMs?: number
  readonly left?: number
}

async function openWorld(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ random: seededRandom(1), ...options })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: 'dev' })
  await publishGame(client)
  const folder = mkdtempSync(join(tmpdir(), 'muster-outlived-'))
  folders.push(folder)

  const live = (given: { readonly queue: string; readonly joins: number; readonly closeWithinMs?: number }) => {
    const child = fork(join(root, 'test/matchmaker/logged-process.mjs'), [JSON.stringify({ url, folder, ...given })], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // The child runs the built files, so it needs none of this process's options.
      execArgv: [],
    })
    living.add(child)
    const told: Message[] = []
    child.on('message', (message: Message) => void told.push(message))
    const ended = once(child, 'close').then(() => void living.delete(child))
    const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
      child.kill(signal)
      await ended
    }
    const assigned = () => told.flatMap((message) => message.assigned ?? [])
    return { told, end, assigned, heard: (what: keyof Message) => told.filter((message) => what in message).length }
  }
  const shut = async () => {
    await client.close()
    await emulator.close()
  }
  return { emulator, live, shut }
}

test('kill -9 at any time loses none of 5,000 waiting tickets that were acknowledged', async () => {
  const { live, shut } = await openWorld()
  const first = live({ queue: 'crowd', joins: 100_000 })
  await until('5,000 wait', () => first.heard('created') >= 5600, 40_000)
  await first.end('SIGKILL')
  const cancelled = new Set(first.told.flatMap((message) => message.cancelled ?? []))
  const created = first.told.flatMap((message) => message.created ?? [])
  const kept = created.filter(({ id }) => !cancelled.has(id))
  expect(kept.length).toBeGreaterThan(5000)

  const next = live({ queue: 'crowd', joins: 0 })
  await until('the next process has begun', () => next.heard('waiting') === 1)
  const waiting = new Map(next.told[0]?.waiting?.map(({ id, createdAt }) => [id, Math.floor(createdAt)]))
  expect(kept.filter(({ id, createdAt }) => waiting.get(id) !== createdAt)).toEqual([])
  expect([...cancelled].filter((id) => waiting.has(id))).toEqual([])
  await next.end('SIGKILL')
  expect(next.told.flatMap(({ problem }) => problem ?? []).filter((one) => !/StoreTorn/.test(one))).toEqual([])
  await shut()
})

test('a process that gets SIGTERM while servers start ends in time, and the next process continues', async () => {
  const { emulator, live, shut } = await openWorld({ speed: 10 })
  const first = live({ queue: 'duel', joins: 60, closeWithinMs: 8000 })
  const alive = () => emulator.inspect().deployments.filter((one) => one.current_status !== 'Status.TERMINATED')
  await until('servers start', () => alive().length > 3)
  await first.end('SIGTERM')
  const { closedMs, left } = first.told.at(-1) ?? {}
  expect(closedMs).toBeLessThan(10_000)
  expect(left).toBe(0)
  const stopped = emulator.inspect().deployments.length - alive().length
  expect(stopped).toBe(0)

  const next = live({ queue: 'duel', joins: 0 })
  const players = first.heard('created') - first.told.filter(({ cancelled }) => cancelled !== undefined).length
  const assigned = () => new Set([...first.assigned(), ...next.assigned()])
  await until('all play', () => assigned().size === players, 30_000)
  expect(alive()).toHaveLength(players / 2)
  expect(emulator.inspect().deployments).toHaveLength(players / 2)
  await next.end('SIGKILL')
  await shut()
})
