import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Environment } from './environment.js'
import { createGameServer, type GameServer, type GameServerOptions, type ServeHandlers } from './game-server.js'
import type { Match, Player, SeatsWanted } from './served-match.js'
import { openStack } from './stack.fixture.js'

/** Functions that close the opened stacks. */
const ends: (() => Promise<void>)[] = []
afterAll(async () => void (await Promise.all(ends.map((end) => end()))))

/** Starts Muster with game servers that use these handlers, on one machine. */
async function open(handlers: ServeHandlers = {}, { env, ...options }: GameServerOptions = {}, more: object = {}) {
  const matches: Match[] = []
  const problems: string[] = []
  const ended: GameServer[] = []
  const play = (given: Environment) => {
    const server = createGameServer({
      env: { ...given, ...env },
      handleSignals: false,
      onProblem: (error) => problems.push(error.message),
      ...options,
    })
    const served = server.serve({
      ...handlers,
      match: async (match) => {
        await handlers.match?.(match)
        matches.push(match)
      },
    })
    void served.then(() => ended.push(server))
    return server
  }
  const stack = await openStack(play, more)
  ends.push(stack.close)
  return { ...stack, matches, problems, ended }
}

const joinBoth = async ({ join }: Awaited<ReturnType<typeof openStack>>, players = ['ann', 'ben']) =>
  Promise.all(players.map((player) => join(player)))

/** Serves MUSTER_VERIFY_URL: it returns each command once, with a number. */
async function openVerifier() {
  const commands: object[] = []
  const answers: { readonly id: number }[] = []
  let count = 0
  const listener = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      if (request.method === 'POST') answers.push(JSON.parse(body) as { id: number })
      const next = request.method === 'GET' ? commands.shift() : undefined
      setTimeout(() => response.writeHead(next === undefined ? 204 : 200).end(JSON.stringify(next)), 10)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    listener.close()
    listener.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/s1`,
    command: async (command: object) => {
      const id = (count += 1)
      commands.push({ id, ...command })
      await expect.poll(() => answers.some((answer) => answer.id === id)).toBe(true)
      return answers.find((answer) => answer.id === id)
    },
  }
}

describe.concurrent('a game server with Muster', () => {
  test('a game server admits players of a match by their tokens, and is free after the end of the match', async ({
    expect,
  }) => {
    const results: unknown[] = []
    const stack = await open()
    stack.matchmaker.on('matchOver', (event) => results.push(event))
    const [ann, ben] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    const match = stack.matches[0] as Match
    expect(server.status).toBe('PLAYING')
    expect(Object.keys(match.teams)).toEqual(['red', 'blue'])
    expect([...match.players.keys()].toSorted()).toEqual(['ann', 'ben'])
    expect(await server.admit(ann?.join_token ?? '')).toMatchObject({ id: 'ann', matchId: match.id })
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'used' })
    expect(await server.admit(ben?.join_token ?? '')).toMatchObject({ id: 'ben' })
    await match.over({ ranking: [['ann'], ['ben']], data: { rounds: 3 } })
    await expect.poll(() => results).toMatchObject([{ result: { ranking: [['ann'], ['ben']] } }])
    // The same server plays the next match. Tokens of the first match are invalid now.
    await joinBoth(stack)
    expect(stack.servers).toHaveLength(1)
    expect(stack.matches).toHaveLength(2)
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'other-match' })
    expect(match.signal.aborted).toBe(true)
    expect(stack.problems).toEqual([])
  })

  test('a game server that cannot serve a match leaves it to another server', async ({ expect }) => {
    let isFirst = true
    const stack = await open({
      match: () => {
        if (!isFirst) return
        isFirst = false
        throw new Error('the map does not load')
      },
    })
    await joinBoth(stack)
    expect(stack.servers).toHaveLength(2)
    expect(stack.problems).toEqual(['the map does not load'])
    await expect.poll(() => stack.ended).toHaveLength(1)
  })

  test('a game server lets a player who leaves return in time, and frees the seat afterwards', async ({ expect }) => {
    const stack = await open()
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    const token = ann?.join_token ?? ''
    await server.admit(token)
    server.left('ann', { mayReturnMs: 60_000 })
    expect(await server.admit(token)).toMatchObject({ id: 'ann' })
    server.left('ann', { mayReturnMs: 50 })
    await expect.poll(async () => (await stack.call('ann', 'POST', '/tickets', { profile: 'duel' })).status).toBe(201)
    await expect(server.admit(token)).rejects.toMatchObject({ code: 'used' })
  })

  test('a game server gets a queued player to replace a player who left', async ({ expect }) => {
    const joined: (readonly Player[])[] = []
    const stack = await open({ joined: (_match, players) => void joined.push(players) })
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    await server.admit(ann?.join_token ?? '')
    stack.matches[0]?.seats({ open: true })
    server.left('ann')
    const cat = await stack.join('cat')
    await expect.poll(() => joined.flat().map(({ id }) => id)).toEqual(['cat'])
    expect(await server.admit(cat.join_token)).toMatchObject({ id: 'cat', team: joined[0]?.[0]?.team })
  })

  test('a game server gets a queued player to replace a player who never came', async ({ expect }) => {
    const stack = await open()
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    stack.matches[0]?.seats({ open: true })
    server.left('ann')
    const cat = await stack.join('cat')
    expect(cat.match_id).toBe(ann?.match_id)
    expect(await server.admit(cat.join_token)).toMatchObject({ id: 'cat' })
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'other-match' })
  })

  test('a game server refuses unused tokens of a removed player and of a player with another seat', async ({
    expect,
  }) => {
    const stack = await open()
    const [ann, ben] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    await server.admit(ben?.join_token ?? '')
    await stack.matchmaker.playersLeft(ann?.match_id ?? '', ['ann'])
    await expect.poll(() => Object.values(stack.matches[0]?.teams ?? {}).flat()).toHaveLength(1)
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'other-match' })
    stack.matches[0]?.seats({ open: true })
    await expect.poll(async () => (await stack.call('ann', 'POST', '/tickets', { profile: 'duel' })).status).toBe(201)
    const again = await stack.assigned('ann')
    expect(again.match_id).toBe(ann?.match_id)
    const [old, fresh] = await Promise.allSettled([server.admit(ann?.join_token ?? ''), server.admit(again.join_token)])
    expect(old).toMatchObject({ status: 'rejected', reason: { code: 'other-match' } })
    expect(fresh).toMatchObject({ status: 'fulfilled', value: { id: 'ann' } })
  })

  test('a game server admits a player who left to an open seat, and keeps the player', async ({ expect }) => {
    const joined: (readonly Player[])[] = []
    const stack = await open({ joined: (_match, players) => void joined.push(players) })
    const [ann, ben] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    const token = ann?.join_token ?? ''
    await server.admit(token)
    stack.matches[0]?.seats({ open: true })
    server.left('ann')
    await expect.poll(async () => (await stack.call('ann', 'POST', '/tickets', { profile: 'duel' })).status).toBe(201)
    const again = await stack.assigned('ann')
    expect(again.match_id).toBe(ann?.match_id)
    await expect.poll(() => joined.flat().map(({ id }) => id)).toEqual(['ann'])
    // If the next report does not contain her, that does not mean that she has left.
    await server.admit(ben?.join_token ?? '')
    await expect.poll(() => stack.matchmaker.inspect().servers[0]?.playersIn).toBe(1)
    expect(stack.matchmaker.inspect().matches.find(({ hosted }) => hosted)?.playerIds).toContain('ann')
    await expect(server.admit(token)).rejects.toMatchObject({ code: 'used' })
    expect(await server.admit(again.join_token)).toMatchObject({ id: 'ann' })
  })

  test('a game server continues without a connection to Muster, and reports what happened when it is back', async ({
    expect,
  }) => {
    const results: unknown[] = []
    const stack = await open()
    stack.matchmaker.on('matchOver', (event) => results.push(event))
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    const back = stack.cut()
    expect(await server.admit(ann?.join_token ?? '')).toMatchObject({ id: 'ann' })
    const over = stack.matches[0]?.over({ ranking: [['ann'], ['ben']] })
    await expect.poll(() => stack.problems[0]).toContain('is there a proxy in between?')
    expect(stack.ended).toEqual([])
    expect(results).toEqual([])
    back()
    await over
    expect(results).toHaveLength(1)
  })

  test('a game server admits no player to a match that is over, even before Muster is notified', async ({ expect }) => {
    const stack = await open()
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    const back = stack.cut()
    const over = stack.matches[0]?.over()
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'other-match' })
    back()
    await over
  })

  test('a game server admits no player while it stops, even if its stop handler is slow', async ({ expect }) => {
    let isStopping = false
    const stack = await open({
      stop: () => {
        isStopping = true
        return new Promise<void>(() => {})
      },
    })
    const [ann] = await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    await stack.matchmaker.stopServer(stack.matchmaker.inspect().servers[0]?.id ?? '')
    await expect.poll(() => isStopping).toBe(true)
    await expect(server.admit(ann?.join_token ?? '')).rejects.toMatchObject({ code: 'other-match' })
  })

  test('a game server that an operator drains finishes its match and then ends', async ({ expect }) => {
    const said: string[] = []
    const stack = await open({
      draining: (reason) => void said.push(`drain: ${reason}`),
      stop: (reason) => void said.push(`stop: ${reason}`),
    })
    await joinBoth(stack)
    const { servers } = stack.matchmaker.inspect()
    await stack.matchmaker.drainServer(servers[0]?.id ?? '')
    await expect.poll(() => said).toEqual(['drain: operator'])
    expect(stack.servers[0]?.status).toBe('DRAINING')
    expect(stack.ended).toEqual([])
    await stack.matches[0]?.over()
    await expect.poll(() => stack.ended).toHaveLength(1)
    expect(said).toHaveLength(2)
  })

  test('after shutdown() a game server takes no more matches, and ends after its current matches', async ({
    expect,
  }) => {
    const stack = await open()
    await joinBoth(stack)
    const [first] = stack.servers as [GameServer]
    void first.shutdown()
    await joinBoth(stack, ['cat', 'dan'])
    expect(stack.servers).toHaveLength(2)
    await stack.matches[0]?.over()
    await expect.poll(() => stack.ended).toContain(first)
  })

  test('a game server started by players is listed with its name, and admits every player with a seat', async ({
    expect,
  }) => {
    const stack = await open({ host: () => ({ name: '', seats: 4, attributes: { map: 'dust' } }) })
    const { json } = await stack.call('ann', 'POST', '/pools/arena/servers', { name: 'Night CTF', password: 'x' })
    const { seats } = json as { readonly seats: readonly { readonly seat_id: string }[] }
    let token = ''
    await expect
      .poll(async () => {
        const { json: held } = await stack.call('ann', 'GET', `/seats/${seats[0]?.seat_id}`)
        const { assignment } = held as { readonly assignment?: { readonly join_token: string } | null }
        return (token = assignment?.join_token ?? '')
      })
      .not.toBe('')
    const [server] = stack.servers as [GameServer]
    expect(await server.admit(token)).toMatchObject({ id: 'ann' })
    await expect
      .poll(async () => (await stack.call('ben', 'GET', '/servers')).json)
      .toMatchObject({ servers: [{ name: 'Night CTF', password: true, seats: { total: 4, taken: 1 } }] })
    server.left('ann')
    await expect
      .poll(async () => (await stack.call('ben', 'GET', '/servers')).json)
      .toMatchObject({ servers: [{ seats: { free: 4, taken: 0 } }] })
    server.list(undefined)
    await expect.poll(async () => (await stack.call('ben', 'GET', '/servers')).json).toMatchObject({ servers: [] })
  })

  test('a game server drains after three failed health checks in a row', async ({ expect }) => {
    const stack = await open({}, { health: () => false })
    await joinBoth(stack)
    const [server] = stack.servers as [GameServer]
    for (let report = 0; report < 3; report += 1) {
      server.list(undefined)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    await expect.poll(() => server.status).toBe('DRAINING')
  })
})

describe('a game server with a verifier', () => {
  test('a game server executes the commands of the verifier and reports the outcome', async () => {
    const { url, command } = await openVerifier()
    const stack = await open({}, { env: { MUSTER_VERIFY_URL: url } })
    const [ann] = await joinBoth(stack)
    const token = ann?.join_token ?? ''
    const by = 'library'
    expect(await command({ do: 'admit', token })).toEqual({ id: 1, by, ok: true, player: 'ann' })
    expect(await command({ do: 'admit', token })).toEqual({ id: 2, by, ok: false, why: 'used' })
    expect(await command({ do: 'admit', token: 'no' })).toEqual({ id: 3, by, ok: false, why: 'malformed' })
    expect(await command({ do: 'leave', player: 'ann', mayReturnMs: 9000 })).toEqual({ id: 4, by, ok: true })
    expect(await command({ do: 'admit', token })).toEqual({ id: 5, by, ok: true, player: 'ann' })
    expect(await command({ do: 'over', match: stack.matches[0]?.id })).toEqual({ id: 6, by, ok: true })
    await expect.poll(() => stack.matches[0]?.signal.aborted).toBe(true)
  })
})

describe('the input from the game', () => {
  test('a match result that Muster would refuse is refused, naming the field, and the match continues', async () => {
    const stack = await open()
    await joinBoth(stack)
    const match = stack.matches[0] as Match
    const wrong: [object, string][] = [
      [['ann'], 'result: must be an object of `ranking` and `data`'],
      [{ winner: 'ann' }, 'result: has the unknown member "winner": put it into `data`'],
      [{ ranking: ['ann', 'ben'] }, 'ranking: must be a list of lists of player ids'],
      [{ ranking: null }, 'ranking: must be a list of lists of player ids'],
      [{ ranking: [[7]] }, 'ranking: 7 is not a player of the match'],
      [{ data: 7n }, 'result: cannot be written as JSON: '],
      [{ ranking: [['eve']] }, 'ranking: "eve" is not a player of the match'],
      [{ ranking: [['ann'], ['ann']] }, 'ranking: lists "ann" twice'],
      [{ ranking: [[]] }, 'ranking: has a rank without players'],
      [{ data: 'x'.repeat(9000) }, 'data: the result must have at most 8192 bytes as JSON, got 9011'],
    ]
    for (const [result, message] of wrong) expect(() => match.over(result)).toThrow(message)
    expect(() => match.seats({ open: true, teams: { green: 1 } })).toThrow('teams.green: the match has no such team')
    expect(() => match.seats({ open: true, teams: { red: -1 } })).toThrow(
      'teams.red: must be a whole number up to 1,000, got -1',
    )
    expect(() => match.seats({ open: true, teams: { red: 5000 } })).toThrow('up to 1,000, got 5000')
    expect(() => match.seats({} as SeatsWanted)).toThrow('open: must be true or false, got undefined')
    const [server] = stack.servers as [GameServer]
    expect(() => server.list({ name: 'x', seats: 3, password: '' })).toThrow('password: must have 1 to 128 characters')
    expect(() => server.list({ name: 'x', seats: 3, teams: { red: -1, blue: 4 } })).toThrow(
      'teams.red: must be a whole',
    )
    expect(() => server.list({ name: 'x', seats: 3, attributes: { map: 'x'.repeat(300) } })).toThrow('attributes.map: ')
    expect(() => server.list({ name: '', seats: 3 })).toThrow('name: must have 1 to 64 characters')
    for (const name of ['a\u202eb', 'a\u3164', '\u2800', 'a\ufe0f'])
      expect(() => server.list({ name, seats: 3 })).toThrow(
        'name: must have no control, direction, zero-width or filler',
      )
    expect(() => server.list({ name: ' \u3000', seats: 3 })).toThrow('name: must not be blank')
    expect(() => server.list({ name: 'x', seats: 2, teams: { 'red\u3164': 1, red: 1 } })).toThrow('teams: ')
    expect(() => server.list({ name: 'x', seats: 0 })).toThrow('seats: must be a whole number from 1 to 1,000, got 0')
    expect(() => server.list({ name: 'x', seats: 3, teams: { red: 1 } })).toThrow('teams: must have 3 seats in all')
    expect(match.signal.aborted).toBe(false)
    // The game may go on changing what it has passed.
    const ranking = [['ann', 'ben']]
    const over = match.over({ ranking })
    ranking.push(['eve'])
    await over
  })

  test('createGameServer refuses wrong options', () => {
    expect(() => createGameServer({ env: {}, build: '' })).toThrow('build: must have 1 to 128 characters, got ""')
    expect(() => createGameServer({ env: {}, matches: 0 })).toThrow('matches: must be 1 to 64, got 0')
    expect(() => createGameServer({ env: {}, attributes: { speed: NaN } })).toThrow('attributes.speed: ')
    const server = createGameServer({ env: {}, handleSignals: false, fetch: () => Promise.reject(new Error('no')) })
    vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
    void server.serve({})
    expect(() => server.serve({})).toThrow('serve() was already called')
    vi.restoreAllMocks()
  })
})
