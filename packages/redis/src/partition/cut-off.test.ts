/** Tests that a process without a connection to Redis answers commands with 503 and Retry-After. */
import { systemClock } from '@muster/core/clock'
import { createTicketApi } from '@muster/matchmaker'
import { expect, onTestFinished, test } from 'vitest'
import { createRedisLimitStore } from '../attempts/limit-store.js'
import { RedisError } from '../connection/connection-errors.js'
import { openGate } from '../gate.fixture.js'
import { createRedisGroupStore } from '../groups/group-store.js'
import { describeRedis, eventually, openRedis } from '../redis.fixture.js'
import { createRedisPartition } from './redis-partition.js'
import { duel, FakeService, type Server } from './world.fixture.js'

type Json = Readonly<Record<string, unknown>>
type Call = (who: string, method: string, path: string, body?: object) => Promise<Answered>
interface Answered {
  readonly status: number
  readonly retryAfter: string | null
  readonly json: Json
}

const slots = [{ name: 'team', slots: 1 }]
const teams = [{ name: 'team', size: { min: 2, max: 4 } }]
const queues = [
  { ...duel, teams, matchSize: undefined, fillForMs: 0, cooldown: {} },
  { ...duel, name: 'asked', acceptance: { withinMs: 600_000 } },
  { ...duel, name: 'lonely', matchSize: 9 },
]

/** Starts two processes of one partition, each with its ticket API. Each reaches Redis by its own gate. */
async function begin() {
  const redis = await openRedis()
  const service = new FakeService(systemClock, 50)
  const unexpected: unknown[] = []
  const member = async () => {
    const gate = await openGate(redis.server.port)
    const client = { url: gate.url, socket: { reconnectStrategy: 20 } }
    const connection = await redis.connect({ client, timeoutMs: 1500 })
    const partition = createRedisPartition({
      redis: connection,
      name: 'eu',
      queues,
      deployments: service,
      tickMs: 20,
      leaseMs: 20_000,
      askTimeoutMs: 1000,
    })
    partition.start()
    const api = createTicketApi(partition, {
      authenticate: (request) => {
        const id = request.headers.get('authorization') ?? ''
        return id === 'backend' ? { id, role: 'backend' } : { id }
      },
      address: () => '192.0.2.1',
      groups: createRedisGroupStore({ redis: connection }),
      limits: { perCaller: { limit: 1000, windowMs: 1000 }, perAddress: { limit: 1000, windowMs: 1000 } },
      limitStore: createRedisLimitStore({ redis: connection }),
      onError: (error) => unexpected.push(error),
    })
    const call: Call = async (who, method, path, body) => {
      const headers = { authorization: who, 'content-type': 'application/json' }
      const given = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const answer = await api(new Request(`http://game.example${path}`, given), { remoteAddress: '192.0.2.1' })
      const text = await answer.text()
      const json = (text === '' ? {} : JSON.parse(text)) as Json
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), json }
    }
    return { partition, gate, call }
  }
  const leading = await member()
  await eventually(() => leading.partition.leads()).toBe(true)
  const following = await member()
  onTestFinished(async () => {
    for (const { gate } of [leading, following]) gate.open()
    await Promise.all([leading.partition.close(), following.partition.close()])
    await redis.close()
    await Promise.all([leading.gate.close(), following.gate.close()])
  })
  return { leading, following, service, unexpected }
}

const wait = (id: string, profile: string) => ({ profile, player_id: id, player_ip: '192.0.2.1' })

/** Creates a running match, a match that awaits acceptance, a waiting ticket, a group and a backfill. */
async function prepare(call: Call, service: Pick<Awaited<ReturnType<typeof begin>>['service'], 'servers'>) {
  const idOf = async (id: string, profile: string) =>
    String((await call('backend', 'POST', '/tickets', wait(id, profile))).json['id'])
  const [ann, , cas, dan, eve] = [
    await idOf('ann', 'duel'),
    await idOf('ben', 'duel'),
    await idOf('cas', 'asked'),
    await idOf('dan', 'asked'),
    await idOf('eve', 'lonely'),
  ]
  const read = async (id: string) => (await call('backend', 'GET', `/tickets/${id}`)).json
  await eventually(async () => (await read(ann))['status']).toBe('HOST_ASSIGNED')
  await eventually(async () => (await read(dan))['status']).toBe('MATCH_FOUND')
  const match = String((await read(ann))['match_id'])
  const { json } = await call('fay', 'POST', '/groups', { profile: 'lonely', is_ready: false })
  const fill = String((await call('backend', 'POST', '/backfills', { match_id: match })).json['id'])
  const server = service.servers.find(({ environment }) => environment?.['MM_MATCH_ID'] === match)
  const token = server?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
  return { cas, dan, eve, match, token, fill, group: String(json['group_id']), member: String(json['member_id']) }
}

/** Every command that needs Redis. `stream-token` is one of them, because it reads the ticket. */
const commands = (at: Awaited<ReturnType<typeof prepare>>): Readonly<Record<string, Parameters<Call>>> => ({
  accept: ['cas', 'POST', `/tickets/${at.cas}/accept`],
  decline: ['dan', 'POST', `/tickets/${at.dan}/decline`],
  'accept by a backend': ['backend', 'POST', `/tickets/${at.cas}/accept`],
  'decline by a backend': ['backend', 'POST', `/tickets/${at.dan}/decline`],
  cancel: ['eve', 'DELETE', `/tickets/${at.eve}`],
  'cancel by a backend': ['backend', 'DELETE', `/tickets/${at.eve}`],
  stop: ['backend', 'DELETE', `/matches/${at.match}`],
  'players left': ['backend', 'POST', `/matches/${at.match}/players-left`, { player_ids: ['ann'] }],
  'stop of an unknown match': ['backend', 'DELETE', '/matches/nope'],
  'cancel of an unknown ticket': ['backend', 'DELETE', '/tickets/nope'],
  create: ['backend', 'POST', '/tickets', wait('guy', 'lonely')],
  'create of several': ['backend', 'POST', '/tickets/batch', { tickets: [wait('guy', 'lonely')] }],
  party: ['backend', 'POST', '/group-tickets', { player_tickets: [wait('guy', 'lonely'), wait('hal', 'lonely')] }],
  match: ['backend', 'POST', '/matches', { profile: 'duel', teams: [{ name: 'team', players: given('guy', 'hal') }] }],
  backfill: ['backend', 'POST', '/backfills', { match_id: at.match }],
  'change of a backfill': ['backend', 'PATCH', `/backfills/${at.fill}`, { version: 1, teams: slots }],
  'end of a backfill': ['backend', 'DELETE', `/backfills/${at.fill}`],
  group: ['guy', 'POST', '/groups', { profile: 'lonely', is_ready: false }],
  'group of one who is ready': ['guy', 'POST', '/groups', { profile: 'lonely', is_ready: true }],
  join: ['guy', 'POST', `/groups/${at.group}/members`, { profile: 'lonely', is_ready: false }],
  ready: ['fay', 'PATCH', `/groups/${at.group}/members/${at.member}`, { is_ready: true }],
  leave: ['fay', 'DELETE', `/groups/${at.group}/members/${at.member}`],
  'end of a group': ['fay', 'DELETE', `/groups/${at.group}`],
  forgive: ['backend', 'DELETE', '/players/ann/cooldown'],
  pause: ['backend', 'POST', '/queues/duel/pause'],
  resume: ['backend', 'POST', '/queues/duel/resume'],
  'server ready': [`Bearer ${at.token}`, 'POST', '/server-ready', { match_id: at.match }],
  'server registers': [`Bearer ${at.token}`, 'POST', '/servers', { instance: 'i' }],
  'server reports': [`Bearer ${at.token}`, 'PUT', '/servers/me', { instance: 'i', seq: 1 }],
  'stream token': ['eve', 'POST', `/tickets/${at.eve}/stream-token`],
})
const given = (...ids: readonly string[]) => ids.map((id) => ({ player_id: id, player_ip: '192.0.2.1' }))

/** Ways in which the connection to Redis is disturbed. */
const CUTS = [
  ['connections break', 'shut'],
  ['nothing passes', 'hold'],
  ['answers are lost', 'deafen'],
] as const
const PROCESSES = ['following', 'leading'] as const
const cases = PROCESSES.flatMap((which) => CUTS.map(([what, how]) => [which, what, how] as const))

describeRedis('a process that is cut off from Redis', () => {
  test.each(cases)(
    'a %s process that is cut off from Redis (%s) answers every command with 503, and recovers with Redis',
    async (which, _, how) => {
      const world = await begin()
      const { gate, call } = world[which]
      const at = await prepare(world.following.call, world.service)
      const all = commands(at)
      gate[how]()
      const asked = Object.entries(all).map(async ([name, input]) => {
        const { status, retryAfter, json } = await call(...input)
        return [name, { status, waits: Number(retryAfter) > 0, code: typeof json['code'] }] as const
      })
      const wanted = { status: 503, waits: true, code: 'string' }
      const answers = Object.fromEntries(await Promise.all(asked))
      expect(answers).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, wanted])))
      // The group store reports each failure as a RedisError.
      expect(world.unexpected.filter((error) => !(error instanceof RedisError))).toEqual([])

      gate.open()
      for (const [name, status] of Object.entries(ANSWERED)) {
        const again = all[name] as Parameters<Call>
        await eventually(async () => `${name}: ${(await call(...again)).status}`).toBe(`${name}: ${status}`)
      }
      // If only replies were lost, the commands took effect, so the match is stopped and no second server was created
      // for it.
      const isOf = (server: Server) => server.environment?.['MM_MATCH_ID'] === at.match
      await eventually(() => world.service.running().filter(isOf)).toEqual([])
      expect(world.service.servers.filter(isOf)).toHaveLength(1)
    },
  )
})

/** Statuses of the repeated commands, in an order in which no command undoes the object of the next one. */
const ANSWERED = { 'players left': 204, stop: 202, cancel: 204, accept: 200, decline: 200 }
