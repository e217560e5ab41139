/**
 * Tests game servers in a partition: they register and report through any process, and the next leader accepts their
 * reports.
 */
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { MatchmakerClosed, ServerNotRegistered, type PoolDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { NoLeader, PartitionFull, PartitionUnavailable } from './partition-errors.js'
import { createPair, createWorld, type Process, type Server } from './world.fixture.js'

const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  reuse: { maxMatches: 20 },
  keepIdleSeconds: 600,
  at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
}
const pooled = { name: 'duel', matchSize: 2, pool: 'arena' }

const withPool = { queues: [pooled], pools: [arena] }

const tokenOf = ({ environment }: Server) => environment?.['MUSTER_SERVER_TOKEN'] ?? ''

/** Simulates a game server's process: it registers, accepts every match, and reports its whole state. */
class Game {
  readonly matches = new Map<string, 'open' | 'over'>()
  readonly token: string
  seq = 0
  version = 0
  registrations = 0

  constructor(server: Server) {
    this.token = tokenOf(server)
  }

  get instance() {
    return this.token.slice(0, 16)
  }

  /** Sends one report to a process of the partition. */
  async report(by: Process, waitMs = 0): Promise<void> {
    if (this.version === 0) await this.register(by)
    this.seq += 1
    const matches = [...this.matches].map(([id, status]) => ({ id, status, players: {} }))
    const state = { instance: this.instance, seq: this.seq, healthy: true, draining: false, matches }
    try {
      let orders = await by.reportServer(this.token, state)
      if (waitMs > 0 && orders.version === this.version)
        orders = await by.waitForServerOrders(this.token, { version: this.version, waitMs })
      this.version = orders.version
      const listed = new Set(orders.matches.map(({ id }) => id))
      for (const id of this.matches.keys()) if (!listed.has(id)) this.matches.delete(id)
      for (const id of listed) if (!this.matches.has(id)) this.matches.set(id, 'open')
    } catch (error) {
      if (!(error instanceof ServerNotRegistered)) throw error
      this.version = 0
    }
  }

  async register(by: Process): Promise<void> {
    this.registrations += 1
    this.version = (await by.registerServer(this.token, { instance: this.instance, matches: 1 })).version
  }
}

/** Starts a pool with one warm server. */
async function warm(options: Parameters<typeof createPair>[0] = {}) {
  const world = await createPair({ ...withPool, ...options })
  await world.pass(3000, 50)
  const [server] = world.service.servers as [Server]
  const game = new Game(server)
  await world.answer(game.report(world.second))
  return { ...world, server, game }
}

/** True if a join token has the signature that its server was told to expect. */
function isSigned(token: string, { alg, key }: { readonly alg: string; readonly key: string }): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const [text, given] = [Buffer.from(`${header}.${payload}`), Buffer.from(signature, 'base64url')]
  if (alg === 'HS256') return createHmac('sha256', Buffer.from(key, 'base64url')).update(text).digest().equals(given)
  return verify(null, text, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' }), given)
}

describe('a server that reports to a follower', () => {
  test('a server that reports to a follower receives its match as soon as the claim is in the store', async () => {
    const { second, answer, join, pass, game, ticket, clock, partition, close, problems } = await warm()
    await answer(game.report(second))
    const held = game.report(second, 10_000)
    const begun = clock.now()
    await pass(500)
    let claimed: object | undefined
    const told = held.then(() => {
      claimed = partition.hosting.get(`m:${[...game.matches.keys()][0]}`)
      return clock.now()
    })
    await join('ann', 'bob')
    expect((await answer(told)) - begun).toBeLessThan(1500)
    expect([...game.matches.values()]).toEqual(['open'])
    expect(claimed).toBeDefined()
    await answer(game.report(second))
    await pass(100)
    expect(await ticket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId: [...game.matches.keys()][0] })
    expect(problems).toEqual([])
    await close()
  })

  test('a follower forwards reports of 1 MiB, and limits their size per server', async () => {
    const { second, answer, game, pass, close } = await warm()
    let seq = 100
    const report = (token: string, length: number) => {
      const data = Array.from({ length: 60 }, () => 'x'.repeat(length / 60))
      const matches = data.map((one, nth) => ({
        id: `m${nth}`,
        status: 'over' as const,
        players: {},
        result: { data: one },
      }))
      seq += 1
      const state = { instance: game.instance, seq, healthy: true, draining: false, matches }
      return answer(second.reportServer(token, state)).catch((error: unknown) => error)
    }
    // A busy server sends several small reports each second.
    for (let nth = 0; nth < 300; nth += 1) expect(await report(game.token, 600)).toMatchObject({ want: 'run' })
    await pass(60_000, 500)
    for (let nth = 0; nth < 8; nth += 1) expect(await report(game.token, 480_000)).toMatchObject({ want: 'run' })
    // A refused report counts for nothing. Otherwise a server that repeats a large report would be refused for good.
    let retryAfterMs = 0
    for (let nth = 0; nth < 3; nth += 1) {
      const refused = await report(game.token, 480_000)
      expect(refused).toBeInstanceOf(PartitionFull)
      retryAfterMs = (refused as PartitionFull).retryAfterMs ?? 0
    }
    await pass(retryAfterMs + 50, 50)
    expect(await report(game.token, 480_000)).toMatchObject({ want: 'run' })
    const players = Array.from({ length: 400 }, (_, nth) => ({ id: `${nth}`.padEnd(1000, 'x'), ip: '192.0.2.1' }))
    const large = { matchId: 'm', teams: [{ name: 'team', players }] }
    await expect(answer(second.createBackfill(large))).rejects.toThrow('ask: must have at most 262144 bytes')
    await close()
  })

  test('a server that reports to a follower counts as lost 25 s after its last report', async () => {
    const { second, answer, pass, game, close } = await warm()
    await answer(game.report(second))
    await pass(24_000, 50)
    const stateOf = async () => (await answer(second.inspect())).servers[0]?.state
    expect(await stateOf()).toBe('IDLE')
    await pass(2000, 50)
    expect(await stateOf()).toBe('LOST')
    await close()
  })

  test('a server receives its match even while the claim of another server is being written', async () => {
    const { second, answer, join, pass, game, service, close } = await warm()
    await join('ann', 'bob', 'cas', 'dan', 'eve', 'fay')
    await pass(1000)
    const { matches } = await answer(second.registerServer(game.token, { instance: game.instance, matches: 1 }))
    expect(matches).toHaveLength(1)
    expect(service.running().length).toBeGreaterThan(2)
    await close()
  })

  test('a server’s report is answered within the requested wait, and a server has one open request', async () => {
    const { second, answer, pass, game, clock, close } = await warm()
    await answer(game.report(second))
    const before = clock.now()
    await answer(game.report(second, 4000))
    expect(clock.now() - before).toBeGreaterThanOrEqual(4000)
    expect(clock.now() - before).toBeLessThan(4200)
    const ended: number[] = []
    for (let nth = 0; nth < 20; nth += 1)
      void second.waitForServerOrders(game.token, { version: game.version, waitMs: 10_000 }).then(() => ended.push(nth))
    await pass(1000)
    expect(ended).toHaveLength(19)
    await pass(10_000)
    expect(ended).toHaveLength(20)
    await close()
  })

  test('a server gets join tokens for its players that the follower signs for this server only', async () => {
    const { second, answer, join, pass, game, server, ticket, clock, close } = await warm()
    await join('ann', 'bob')
    await pass(1000)
    await answer(game.report(second))
    await answer(game.report(second))
    await pass(100)
    const ann = await ticket('ann')
    const token = second.joinToken(ann, 'ann') ?? ''
    // Derive the key like a game server, as docs/servers.md describes.
    const key = createHmac('sha256', tokenOf(server)).update('muster-join-1').digest()
    const [header = '', payload = '', signature] = token.split('.')
    expect(signature).toBe(createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url'))
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    expect(claims).toMatchObject({ aud: ann.assignment?.server, sub: 'ann', mid: ann.matchId })
    expect(claims).toMatchObject({ exp: Math.floor(clock.now() / 1000) + 300 })
    expect(second.joinToken(ann, 'bob')).toBeUndefined()
    await close()
  })

  test.each(['HS256', 'EdDSA'] as const)(
    'a server gets valid %s join tokens after Redis has lost its data',
    async (alg) => {
      const { second, answer, join, pass, game, service, ticket, partition, close } = await warm({
        joinTokens: { alg },
      })
      const took = async (server: Game) => {
        for (let nth = 0; nth < 2; nth += 1) await answer(server.report(second))
        await pass(100)
      }
      await join('ann', 'bob')
      await pass(1000)
      await took(game)
      expect(second.joinToken(await ticket('ann'), 'ann')).toBeDefined()
      partition.wipe()
      await pass(10_000, 20)
      const after = new Game(service.servers.at(-1) as Server)
      await took(after)
      await join('cas', 'dan')
      await pass(1000)
      await took(after)
      const cas = await ticket('cas')
      const registered = await answer(second.registerServer(after.token, { instance: after.instance, matches: 1 }))
      expect(isSigned(second.joinToken(cas, 'cas') ?? '', registered)).toBe(true)
      await close()
    },
  )

  test('a server’s token is derived from the configured secret, which is stored nowhere else', async () => {
    const { second, answer, partition, server, close } = await warm({ serverSecret: 's'.repeat(32) })
    expect(await answer(second.isServerSecret(tokenOf(server)))).toBe(true)
    // The only note is the name of the partition.
    expect([...partition.notes.keys()]).toEqual(['i'])
    await close()
  })

  test('before any process has led, a server’s token is not refused, because it cannot be checked yet', async () => {
    const { process, clock } = createWorld()
    const idle = process()
    await expect(idle.isServerSecret(`server.${'x'.repeat(22)}`)).rejects.toThrow(PartitionUnavailable)
    await clock.until(idle.close(), 10)
  })

  test('a server gets EdDSA join tokens on request, and every process serves the public key', async () => {
    const world = await warm({ joinTokens: { alg: 'EdDSA' } })
    const { first, second, answer, join, pass, game, ticket, close } = world
    await join('ann', 'bob')
    await pass(1000)
    for (let nth = 0; nth < 2; nth += 1) await answer(game.report(second))
    await pass(100)
    const [header = '', payload = '', signature = ''] = (second.joinToken(await ticket('ann'), 'ann') ?? '').split('.')
    const { keys } = await answer(second.joinKeys())
    expect(await answer(first.joinKeys())).toEqual({ keys })
    const key = createPublicKey({ key: { ...keys[0] }, format: 'jwk' })
    expect(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
    const registered = await answer(second.registerServer(game.token, { instance: game.instance, matches: 1 }))
    expect(registered).toMatchObject({ alg: 'EdDSA', key: keys[0]?.x })
    await close()
  })

  test('guesses of a server’s token never reach the leader, and do not block the server', async () => {
    const { first, second, answer, game, close } = await warm()
    expect(await answer(second.isServerSecret(game.token))).toBe(true)
    const [credential = '', signature = ''] = game.token.split('.')
    first.pause()
    const changed = signature.startsWith('a') ? `b${signature.slice(1)}` : `a${signature.slice(1)}`
    for (const guess of [`${credential}.${changed}`, `x${credential}.${signature}`, 'nothing', ''])
      expect(await answer(second.isServerSecret(guess))).toBe(false)
    // The process has just learned this token, so it does not ask the leader again.
    expect(await answer(second.isServerSecret(game.token))).toBe(true)
    await close()
  })
})

describe('the next leader', () => {
  test('the next leader adopts the state that a server reports: its match continues without a new create', async () => {
    const { second, answer, join, pass, game, service, ticket, takeOver, close } = await warm()
    await join('ann', 'bob')
    await pass(1000)
    await answer(game.report(second))
    await answer(game.report(second))
    await pass(100)
    const before = await ticket('ann')
    expect(before.status).toBe('HOST_ASSIGNED')
    const created = service.servers.length
    await takeOver()
    await answer(game.report(second))
    expect([game.version, game.registrations]).toEqual([0, 1])
    await answer(game.report(second))
    expect([...game.matches]).toEqual([[before.matchId, 'open']])
    expect(game.registrations).toBe(2)
    await pass(5000, 50)
    expect(await ticket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId: before.matchId })
    expect(service.servers.length).toBe(created)
    expect(service.running().map(({ id }) => id)).toContain(before.assignment?.fqdn.replace('.example.com', ''))
    // The same server ends the match, and serves the next one.
    for (const id of game.matches.keys()) game.matches.set(id, 'over')
    await answer(game.report(second))
    await pass(500)
    expect(await ticket('ann')).toMatchObject({ ended: { reason: 'match-over' } })
    await answer(second.createTicket({ id: 'ann2', queue: 'duel', players: [{ id: 'ann', ip: '192.0.2.1' }] }))
    await close()
  })

  test('for the next leader a match is over if its server got that order from the leader before', async () => {
    const { first, second, answer, join, pass, game, player, ticket, close } = await warm()
    await join('ann', 'bob')
    await pass(1000)
    await answer(game.report(second))
    await answer(game.report(second))
    await pass(100)
    for (const id of game.matches.keys()) game.matches.set(id, 'over')
    await answer(game.report(second))
    first.pause()
    expect(game.matches.size).toBe(0)
    await pass(3000, 50)
    expect(second.leads()).toBe(true)
    expect(await ticket('ann')).toMatchObject({ ended: { reason: 'match-over' } })
    await answer(second.createTicket({ id: 'again', queue: 'duel', players: [player('ann')] }))
    await close()
  })

  test('the next leader registers a server without a match again as a warm server', async () => {
    const { first, second, answer, join, pass, game, service, ticket, close } = await warm()
    const created = service.servers.length
    first.pause()
    await pass(3000, 50)
    await answer(game.report(second))
    await answer(game.report(second))
    await join('ann', 'bob')
    await pass(1000)
    await answer(game.report(second))
    await answer(game.report(second))
    await pass(200)
    expect(await ticket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
    // At most one more server, which replaces the taken one.
    expect(service.servers.length).toBeLessThanOrEqual(created + 1)
    await close()
  })

  test('of two deployments of a lost create one is kept and the other ended, also by the next leader', async () => {
    const { second, answer, pass, service, takeOver, close } = await createPair(withPool, (world) => {
      const { servers } = world.service
      world.service.fault = (method) => {
        if (method === 'create') return servers.length === 0 ? 'answer' : undefined
        return method === 'list' && servers.length > 0 ? 'call' : undefined
      }
    })
    await pass(500, 50)
    const [one] = service.servers as [Server]
    const twin = { ...one, id: 'twin' }
    service.servers.push(twin)
    const register = (deployment: string) =>
      answer(second.registerServer(tokenOf(one), { instance: deployment, deployment, matches: 1 })).then(
        () => 'registered',
        ({ name }: Error) => name,
      )
    const both = async () => [await register(one.id), await register(twin.id)]
    expect(await both()).toEqual(['Unavailable', 'Unavailable'])
    service.fault = () => undefined
    await pass(2500, 50)
    const answers = await both()
    expect(answers.toSorted()).toEqual(['ServerGone', 'registered'])
    await pass(500, 50)
    expect([one, twin].map(({ stoppedAt }) => stoppedAt === undefined)).toEqual(
      answers.map((said) => said === 'registered'),
    )
    await takeOver()
    expect(await both()).toEqual(answers)
    await close()
  })

  test('a waiting server is answered without delay while the leader ends and another takes over', async () => {
    const { first, second, answer, pass, game, clock, close } = await warm()
    await answer(game.report(second))
    const before = clock.now()
    const held = game.report(second, 5000).catch((error: unknown) => error)
    await pass(1000)
    first.pause()
    const outcome = await answer(held)
    // The held request's time has passed under two leaders. The next leader does not know the server yet.
    expect(clock.now() - before).toBeLessThan(16_000)
    if (outcome !== undefined) expect(outcome).toBeInstanceOf(NoLeader)
    await answer(game.report(second))
    await answer(game.report(second))
    expect(game.registrations).toBe(2)
    await close()
  })
})

test('a closed process refuses the request of a game server like any other call', async () => {
  const { second, first, answer, pass, game } = await warm()
  let outcome: unknown
  const held = second.waitForServerOrders(game.token, { version: game.version, waitMs: 10_000 }).then(
    () => (outcome = 'answered'),
    (error: unknown) => (outcome = error),
  )
  await pass(1000)
  expect(outcome).toBeUndefined()
  await answer(second.close())
  await answer(held)
  expect(outcome).toBeInstanceOf(MatchmakerClosed)
  const after = second.waitForServerOrders(game.token, { version: game.version, waitMs: 10_000 })
  await expect(answer(after)).rejects.toThrow(MatchmakerClosed)
  await answer(first.close())
})

test('a partition without pools accepts the reports of its game servers', async () => {
  const { second, answer, join, pass, service, ticket, close } = await createPair()
  await join('ann', 'bob')
  await pass(3000)
  const { matchId = '' } = await ticket('ann')
  const game = new Game(service.servers[0] as Server)
  await answer(game.report(second))
  game.matches.set(matchId, 'over')
  await answer(game.report(second))
  await pass(3000)
  expect(service.running()).toEqual([])
  expect(await ticket('ann')).toMatchObject({ ended: { reason: 'match-over' } })
  await close()
})
