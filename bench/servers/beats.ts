/**
 * Measures, on a manual clock, what 10,000 game servers cost that report every ten seconds, and what join tokens cost.
 */
import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createManualClock } from '@muster/core/clock'
import { readJoinToken } from '@muster/game-server/internal'
import { createMatchmaker, createTicketApi, type Ticket } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'
import { atMost, type Figures } from '../figure.js'

const SERVERS = 10_000
const PLACES = 10
const BEAT_SECONDS = 10
const ROUNDS = 3
const TOKENS = 20_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heapBytes = () => {
  collect()
  return process.memoryUsage().heapUsed
}

const request = (method: string, path: string, token: string, body: object) =>
  new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Returns the bytes that this benchmark itself keeps for each server: in its service, its tokens and its keys. */
async function ownBytes(): Promise<number> {
  const before = heapBytes()
  const stub = createStubService(createManualClock(), 1000)
  const kept: unknown[] = []
  for (let nth = 0; nth < SERVERS; nth += 1) {
    const tag = randomBytes(15).toString('base64url')
    await stub.create({ application: 'game', version: '1', users: [], tags: ['muster-of-a-benchmark', `match-${tag}`] })
    kept.push(randomBytes(40).toString('base64url'), randomBytes(15).toString('base64url'), randomBytes(32))
  }
  const bytes = (heapBytes() - before) / SERVERS
  if (kept.length === 0 || (await stub.list({})).data?.length === 0) throw new Error('nothing was kept')
  return bytes
}

export async function beatFigures(): Promise<Figures> {
  const own = await ownBytes()
  const clock = createManualClock()
  const stub = createStubService(clock, 1000)
  const tokens: string[] = []
  const matchmaker = createMatchmaker({
    deployments: {
      ...stub,
      create: (input) => {
        tokens.push(input.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? '')
        return stub.create(input)
      },
    },
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    pools: [
      {
        name: 'arena',
        deploy: { application: 'game', version: '1', readyTimeoutMs: 600_000 },
        places: Array.from({ length: PLACES }, (_, nth) => ({
          name: `place-${nth}`,
          latitude: nth * 8 - 40,
          longitude: nth * 30 - 150,
        })),
        warm: { hit: 0, max: SERVERS },
        at: [{ cron: '* * * * *', minutes: 2, min: SERVERS / PLACES }],
        keepIdleSeconds: 86_400,
      },
    ],
    maxServers: 2 * SERVERS,
    maxStarting: 2 * SERVERS,
    clock,
  })
  const api = createTicketApi(matchmaker, {
    authenticate: () => undefined,
    clock,
    // Each server has an own address.
    address: ({ headers }) => headers.get('authorization')?.slice(7, 27),
  })
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await matchmaker.tick()
      await clock.advance(250)
    }
  }
  const before = heapBytes()
  const ids: string[] = []
  const keys: Uint8Array[] = []
  while (ids.length < SERVERS) {
    await run(250)
    for (const token of tokens.slice(ids.length)) {
      const answer = await api(request('POST', '/servers', token, { instance: token.slice(0, 20) }))
      if (!answer.ok) throw new Error(`a registration was refused: ${answer.status} ${await answer.text()}`)
      const { id, key } = (await answer.json()) as { readonly id: string; readonly key: string }
      ids.push(id)
      keys.push(Buffer.from(key, 'base64url'))
    }
  }
  const bytesEach = (heapBytes() - before) / SERVERS - own
  await run(5000)
  const shares: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const requests = tokens
      .slice(0, SERVERS)
      .map((token) => request('PUT', '/servers/me', token, { instance: token.slice(0, 20), seq: round }))
    const used = process.cpuUsage()
    let refused = 0
    let first = ''
    for (const one of requests) {
      const answer = await api(one)
      if (answer.ok) continue
      refused += 1
      if (first === '') first = `${answer.status} ${await answer.text()}`
    }
    const { user, system } = process.cpuUsage(used)
    if (refused > 0) throw new Error(`${refused} reports were refused: ${first}`)
    shares.push(((user + system) / 1e6 / BEAT_SECONDS) * 100)
    await run(250)
  }

  const [server = ''] = ids
  const ticket = {
    ...matchmaker.createTicket({ id: 'ann', queue: 'duel', players: [{ id: 'ann', ip: '192.0.2.7' }] }),
    status: 'HOST_ASSIGNED',
    matchId: 'k23ulso02pkji8gs3c9qo',
    assignment: { server, fqdn: '', publicIp: undefined, ports: {}, location: undefined },
  } satisfies Ticket
  const joinKey = { alg: 'HS256', server, key: keys[0] as Uint8Array } as const
  const made: number[] = []
  const checked: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now()
    let token = ''
    for (let nth = 0; nth < TOKENS; nth += 1) token = matchmaker.joinToken(ticket, 'ann') ?? ''
    made.push(((performance.now() - begun) / TOKENS) * 1000)
    const checking = performance.now()
    for (let nth = 0; nth < TOKENS; nth += 1) readJoinToken(token, joinKey, clock.now())
    checked.push(((performance.now() - checking) / TOKENS) * 1000)
  }
  await matchmaker.close({ timeoutMs: 0 }).catch(() => {})
  return {
    figures: [
      atMost('10,000 servers that report every 10 s, without the network', shares, 8, '% of a core'),
      atMost(
        'a server that has registered, with its deployment',
        bytesEach / 1000,
        3,
        'KB',
        `without ${(own / 1000).toFixed(1)} KB of the benchmark's own`,
      ),
      atMost('a join token made', made, 15, 'µs'),
      atMost('a join token checked', checked, 15, 'µs'),
    ],
    peers: {},
  }
}
