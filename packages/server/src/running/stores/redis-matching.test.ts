import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { skipsRedis, startRedisServer, type RedisServer } from '@muster/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FoundStories, Now } from '@muster/console/internal'
import { BACKEND_KEY, env, openServer, openService, OPERATE_KEY, yamlOf } from '../server.fixture.js'

describe.skipIf(skipsRedis())('a store in Redis', () => {
  let redis: RedisServer
  let service: Awaited<ReturnType<typeof openService>>
  beforeAll(async () => {
    redis = await startRedisServer()
    service = await openService()
  })
  afterAll(async () => {
    await service.emulator.close()
    await redis.close()
  })
  /** Sends a command on a separate connection. */
  const command = async (text: string) => {
    const { hostname, port } = new URL(redis.url)
    const socket = connect(Number(port), hostname)
    socket.write(`${text}\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return String(answer)
  }

  test('a Redis store works with the Redis user of docs/scale-out.md, limited to Muster’s keys', async () => {
    const page = readFileSync(new URL('../../../../../docs/scale-out.md', import.meta.url), 'utf8')
    const rules = /^ACL SETUSER muster .*$/m.exec(page)?.[0] ?? ''
    expect(await command(rules.replace('>PASSWORD', '>secret'))).toBe('+OK\r\n')
    const url = new URL(redis.url)
    Object.assign(url, { username: 'muster', password: 'secret' })
    Object.assign(env, { REDIS_URL: url.href })
    const { server, ask, lines } = await openServer(
      yamlOf(service.url, 'store: { redis: { url: { env: REDIS_URL }, prefix: mu } }\nlobbies: { enabled: true }'),
    )
    const create = (player: string) =>
      ask('POST', '/tickets', {
        token: BACKEND_KEY,
        body: { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} },
      })
    const [first] = [await create('acl-1'), await create('acl-2')]
    const { id } = (await first.json()) as { id: string }
    const status = async () => {
      const answer = await ask('GET', `/tickets/${id}`, { token: BACKEND_KEY })
      return ((await answer.json()) as { status: string }).status
    }
    await expect.poll(status, { interval: 100 }).toBe('HOST_ASSIGNED')
    expect((await ask('GET', '/readyz')).status).toBe(200)
    await server.close()
    expect(lines.filter((line) => /NOPERM|permission/i.test(line))).toEqual([])
    for (const denied of ['get other', 'keys *', 'flushall', 'config get dir'])
      expect(await command(`ACL DRYRUN muster ${denied}`)).toMatch(/no permissions/)
  })

  const open = () =>
    openServer(yamlOf(service.url, `store: { redis: { url: "${redis.url}" } }\nlobbies: { enabled: true }`))

  test('a process is not ready while Redis takes no writes, and names the cause', async () => {
    const { server, ask } = await open()
    const ready = async () => (await ask('GET', '/readyz')).json()
    const expectWhy = (why: readonly string[]) =>
      expect.poll(ready, { interval: 50, timeout: 10_000 }).toMatchObject({ ready: why.length === 0, why })
    await expectWhy([])
    for (const [breaks, repairs, why] of [
      ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE', 'this Redis is a read-only replica: connect to the primary'],
      [
        'CONFIG SET min-replicas-to-write 1',
        'CONFIG SET min-replicas-to-write 0',
        'Redis has fewer replicas than it must have, so it takes no writes',
      ],
      [
        'SET mu:{partition.test}:k x',
        'DEL mu:{partition.test}:k',
        'a key holds another type: another program uses this',
      ],
    ] as const) {
      expect(await command(breaks)).toMatch(/^\+OK/)
      await expectWhy([expect.stringContaining(why) as unknown as string])
      await command(repairs)
      await expectWhy([])
    }
    await server.close()
  })

  test('a process stays ready while Redis is full, because players can still cancel, which frees memory', async () => {
    const { server, ask } = await open()
    const create = (player_id: string) => {
      const body = { profile: 'duel', player_id, player_ip: '192.0.2.7', attributes: {} }
      return ask('POST', '/tickets', { token: BACKEND_KEY, body })
    }
    const { id } = (await (await create('ann')).json()) as { id: string }
    expect(await command('CONFIG SET maxmemory 1')).toMatch(/^\+OK/)
    expect((await create('ben')).status).toBe(503)
    expect((await ask('GET', '/readyz')).status).toBe(200)
    expect((await ask('DELETE', `/tickets/${id}`, { token: BACKEND_KEY })).ok).toBe(true)
    await command('CONFIG SET maxmemory 0')
    await server.close()
  })

  test('a ticket created in one process can be read in another over Redis, even after the first ended', async () => {
    const [one, other] = [await open(), await open()]
    const create = async (player: string) => {
      const body = { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} }
      const answer = await one.ask('POST', '/tickets', { token: BACKEND_KEY, body })
      return ((await answer.json()) as { id: string }).id
    }
    const id = await create('ann')
    const read = () => other.ask('GET', `/tickets/${id}`, { token: BACKEND_KEY })
    expect((await read()).status).toBe(200)
    const eventually = <T>(look: () => T) => expect.poll(look, { interval: 50 })
    // At first nothing is sent to the service, because an earlier process may just have used up its limits.
    const readyz = async ({ ask }: typeof one) => (await ask('GET', '/readyz')).json()
    for (const [program, leading] of [
      [one, true],
      [other, false],
    ] as const)
      await eventually(() => readyz(program)).toEqual({ ready: true, why: [], leading })
    /** Returns the present state in a program's console. */
    const now = async ({ ask }: typeof one) => {
      const { body } = await ask('GET', '/console/api/feed', { token: OPERATE_KEY })
      let heard = ''
      for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        heard += part
        const text = /^event: now\ndata: (.*)\n\n/m.exec(heard)?.[1]
        if (text !== undefined) return JSON.parse(text) as Now
      }
      return undefined
    }
    // Operators may see which process leads; callers of `/readyz` may not.
    const leader = `${hostname()} (process ${process.pid})`
    expect((await now(one))?.ready).toMatchObject({ leading: true })
    expect(await now(other)).toMatchObject({
      ready: { leading: false, leader },
      queues: [{ arrivalsPerMinute: null, matchesPerMinute: null }],
    })
    /** Returns the value of a series in each of the programs that report it. */
    const measured = async (series: string, programs = [one, other]) => {
      const pages = await Promise.all(programs.map(async ({ ask }) => (await ask('GET', '/metrics')).text()))
      const lines = pages.flatMap((text) => text.split('\n').filter((line) => line.startsWith(`${series} `)))
      return lines.map((line) => Number(line.split(' ')[1]))
    }
    const waiting = 'muster_players_waiting{muster_queue="duel"}'
    await eventually(() => measured(waiting)).toEqual([1])
    expect(await measured('muster_partition_leading')).toEqual([1, 0])
    expect(await measured('muster_tickets_created_total{muster_queue="duel"}')).toEqual([1])
    expect(await measured('muster_problems_total{muster_activity="create"}')).toEqual([0, 0])
    expect(await measured('muster_process_cpu_total')).toHaveLength(2)
    expect((await measured('muster_http_answers_total{muster_status="2xx"}')).every((count) => count > 1)).toBe(true)
    // Every process has the story of a ticket. The story outlives the process that created the ticket.
    const story = async ({ ask }: typeof one) => {
      const answer = await ask('GET', `/console/api/find?id=${id}`, { token: OPERATE_KEY })
      return ((await answer.json()) as FoundStories).stories[0]?.events.map(({ what }) => what)
    }
    for (const program of [one, other]) await eventually(() => story(program)).toEqual(['created'])
    expect(await one.server.close()).toBe(true)
    await eventually(() => readyz(other)).toMatchObject({ leading: true })
    for (const series of [waiting, 'muster_partition_leading', 'muster_partition_takeovers_total'])
      expect(await measured(series, [other])).toEqual([1])
    await eventually(() => story(other)).toEqual(['created'])
    expect(await (await read()).json()).toMatchObject({ id, status: 'SEARCHING' })
    await other.server.close()
  })
})
