/** Files of every earlier version must be readable; files of later versions must be refused. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createManualClock } from '@muster/core/clock'
import { readCrowd } from '@muster/lab'
import { createMatchmaker, openStore, replayTickets } from '@muster/matchmaker'
import { connectRedis, createRedisPartition } from '@muster/redis'
import { skipsRedis, startRedisServer } from '@muster/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const kept = fileURLToPath(new URL('kept/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'muster-kept-'))
afterAll(() => rmSync(scratch, { recursive: true }))

interface Ids {
  readonly playing: readonly string[]
  readonly waiting: string
  readonly group: string
}
const idsIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Ids

/** The queues of kept/muster-1.yaml that have tickets. */
const deploy = { application: 'my-game', version: '1.0' }
const queues = [
  { name: 'duel', matchSize: 2, deploy },
  { name: 'ranked', teams: [{ name: 'team', count: 2, size: 2 }], deploy },
]
/** Creates a promise that never settles, for a service that never answers. */
const never = () => new Promise<never>(() => {})
const deployments = { create: never, get: never, list: never, stop: never } as never

describe.each(readdirSync(kept).filter((name) => name.startsWith('store-')))('the kept store %s', (name) => {
  const { playing, waiting } = idsIn(join(kept, name, 'ids.json'))
  const copy = () => {
    const folder = mkdtempSync(join(scratch, `${name}-`))
    cpSync(join(kept, name), folder, { recursive: true })
    return folder
  }
  const filesIn = (folder: string) => readdirSync(folder).filter((file) => file !== 'ids.json')
  const open = (folder: string) =>
    openStore({
      path: join(folder, 'muster.log'),
      takeOver: [join(folder, 'tickets.log'), join(folder, 'servers.journal')],
    })

  test('the matchmaker reads tickets, matches and pauses from a store file of an earlier version', async () => {
    const folder = copy()
    const log = readFileSync(
      join(folder, filesIn(folder).includes('muster.log') ? 'muster.log' : 'tickets.log'),
      'utf8',
    )
    const start = 1 + Math.max(...Array.from(log.matchAll(/"createdAt":(\d+)/g), ([, at]) => Number(at)))
    const clock = createManualClock({ start })
    const matchmaker = createMatchmaker({ name: 'kept', queues, deployments, clock, store: await open(folder) })
    const found = (id: string) => matchmaker.getTicket(id)
    expect(found(waiting)).toMatchObject({ status: 'SEARCHING', players: [{ id: 'cas' }] })
    for (const id of playing) {
      expect(found(id)).toMatchObject({ status: 'HOST_ASSIGNED', queue: 'duel' })
      expect(found(id)?.assignment?.ports['game']?.external).toBeGreaterThan(0)
    }
    expect(matchmaker.inspect().queues.map(({ name: queue, paused }) => `${queue} ${paused}`)).toEqual([
      'duel false',
      'ranked true',
    ])
    const closing = matchmaker.close()
    await clock.until(closing)
  })
})

test('a recording of version 1 is replayed, and one of a later version is refused', async () => {
  const path = join(kept, 'recording-1.jsonl')
  const replay = await replayTickets(readFileSync(path, 'utf8').split('\n'))
  expect(replay.matches).toHaveLength(1)
  const later = readFileSync(path, 'utf8').replace('muster-recording-1', 'muster-recording-2').split('\n')
  await expect(replayTickets(later)).rejects.toThrow('format: must be "muster-recording-1", got "muster-recording-2"')
})

test('a crowd of version 1 is read, and one of a later version is refused', async () => {
  const text = readFileSync(join(kept, 'crowd-1.jsonl'), 'utf8')
  const read = async (all: string) => readCrowd(all.split('\n'))
  const crowd = await read(text)
  expect(crowd.parties.flatMap(({ players }) => players).length).toBeGreaterThanOrEqual(15)
  await expect(read(text.replace('muster-crowd-1', 'muster-crowd-2'))).rejects.toThrow(
    'format: must be "muster-crowd-1", got "muster-crowd-2"',
  )
})

describe.skipIf(skipsRedis())('kept data in Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedisServer>>
  beforeAll(async () => {
    redis = await startRedisServer()
  })
  afterAll(() => redis.close())

  interface KeptKey {
    readonly key: string
    readonly type: 'hash' | 'string' | 'list'
    readonly value: Readonly<Record<string, string>> | string | readonly string[]
  }

  test.each(readdirSync(kept).filter((name) => name.startsWith('redis-')))(
    'a new leader can take over the kept data of an earlier version in Redis: %s',
    async (name) => {
      const { keys, ...ids } = JSON.parse(readFileSync(join(kept, name), 'utf8')) as Ids & { keys: readonly KeptKey[] }
      const connection = await connectRedis({ client: { url: redis.url }, prefix: 'kept' })
      for (const { key, type, value } of keys) {
        if (key.endsWith(':lead')) continue
        if (type === 'string') await connection.command(key, ['SET', key, value as string])
        else if (type === 'list') await connection.command(key, ['RPUSH', key, ...(value as readonly string[])])
        else await connection.command(key, ['HSET', key, ...Object.entries(value).flat()])
      }
      const partition = createRedisPartition({ redis: connection, name: 'kept', queues, deployments })
      const problems: unknown[] = []
      partition.on('problem', ({ error }) => problems.push(error))
      partition.start()
      await expect.poll(partition.leads).toBe(true)
      expect(await partition.getTicket(ids.waiting)).toMatchObject({ players: [{ id: 'cas' }], queues: ['ranked'] })
      for (const id of ids.playing)
        expect(await partition.getTicket(id)).toMatchObject({ queue: 'duel', assignment: { ports: { game: {} } } })
      expect(problems).toEqual([])
      await partition.close()
      await connection.close()
    },
  )
})
