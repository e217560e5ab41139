import { readJoinToken } from '@muster/game-server/internal'
import { RegistrationBody } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { PlayerCoolingDown, PlayerPlaying, SeatRefused, UnknownSeat } from './errors.js'
import { arena, open, world } from './listed-servers.fixture.js'

const refusal = (act: () => unknown): SeatRefused => {
  try {
    act()
  } catch (error) {
    if (error instanceof SeatRefused) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a server that lists itself', () => {
  test('a caller cannot change the list of servers, which all callers share', async () => {
    const { matchmaker, listed } = open()
    await listed()
    const [row] = matchmaker.listedServers().servers
    for (const [part, key] of [
      [row, 'name'],
      [row?.attributes, 'mode'],
      [row?.seats, 'free'],
    ] as const)
      expect(() => Reflect.set(Object(part), key, 'other')).not.toThrow()
    expect(matchmaker.listedServers().servers[0]).toMatchObject({ name: 'world 0', attributes: { mode: 'ctf' } })
    expect(matchmaker.listedServers().servers[0]?.seats.free).toBe(2)
  })

  test('a server that lists itself appears in the list, and can check the token of a held seat', async () => {
    const { matchmaker, servers, listed, run, clock } = open()
    const [first = ''] = await listed()
    expect(matchmaker.listedServers().servers[0]).toMatchObject({
      name: 'world 0',
      pool: 'arena',
      build: '7',
      attributes: { mode: 'ctf' },
      isOpen: true,
      hasPassword: false,
      seats: { total: 2, free: 2, held: 0, taken: 0, away: 0 },
    })
    const { seats, isNew } = matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
    expect(isNew).toBe(true)
    const [seat] = seats
    expect(seat).toMatchObject({ playerId: 'ann', state: 'held', until: clock.now() + 30_000 })
    expect(seat?.assignment?.fqdn).toBe('r1.example.com')
    const token = servers[0]?.token ?? ''
    const { id, alg, key } = matchmaker.registerServer(token, RegistrationBody.parse({ instance: token.slice(0, 20) }))
    const joinKey = { alg, server: id, key: Buffer.from(key, 'base64url') }
    const claims = readJoinToken(seat?.joinToken, joinKey, clock.now())
    expect(claims).toMatchObject({ sub: 'ann', mid: token.slice(0, 20), sid: seat?.id, aud: id })
    // The token expires when the hold expires.
    expect(claims).toMatchObject({ exp: Math.floor((clock.now() + 30_000) / 1000) })
    if (servers[0] !== undefined) servers[0].players = { ann: 'in' }
    await run(1000)
    expect(matchmaker.seatsOf('ann')[0]).toMatchObject({ id: seat?.id, state: 'taken' })
    expect(matchmaker.listedServers().servers.find((one) => one.id === first)?.seats.taken).toBe(1)
  })

  test('a listed server gets no match, and counts as a warm server until a player is on it', async () => {
    const { service, run, listed, join, status } = open({ pools: [world] })
    await listed()
    await run(200_000)
    expect(service.calls.stop).toHaveLength(0)
    expect(service.calls.create).toHaveLength(2)
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    // A server was created for the match.
    expect(service.calls.create).toHaveLength(3)
  })

  test('a server that stops listing itself can be taken by a match again', async () => {
    const { service, run, listed, servers, join, status } = open({ pools: [{ ...world, keepIdleSeconds: 3600 }] })
    await listed()
    // A match needs a server while two are listed.
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    for (const server of servers.slice(0, 2)) server.listing = undefined
    await run(2000)
    const created = service.calls.create.length
    for (const pair of [
      ['cat', 'dan'],
      ['eve', 'fay'],
    ])
      join(...pair)
    await run(2000)
    const warm = ['cat-dan', 'eve-fay'].filter((id) => status(id) === 'HOST_ASSIGNED')
    // Two matches took the servers that were listed. A third server was created for the first match.
    expect([warm.length, created]).toEqual([2, 3])
  })

  test('a listed server gets the held seats with its orders', async () => {
    const { matchmaker, servers, listed, report } = open()
    const [first = ''] = await listed()
    const { seats } = matchmaker.holdSeats({ serverId: first, playerIds: ['ann', 'ben'], groupId: 'g' })
    const [server] = servers
    if (server === undefined) throw new Error('no server')
    expect((await report(server)).listing).toEqual({
      session: server.token.slice(0, 20),
      seats: seats.map(({ id, playerId }) => expect.objectContaining({ id, playerId, groupId: 'g', team: '' })),
    })
  })

  test('a listed server gets the same orders until its seats change, and can wait for changes', async () => {
    const { matchmaker, servers, listed, report, clock } = open()
    const [first = ''] = await listed()
    const [server] = servers
    if (server === undefined) throw new Error('no server')
    const { version } = await report(server)
    server.players = { ann: 'in' }
    const joined = await report(server)
    expect(joined.version).not.toBe(version)
    server.players = { ann: 'away' }
    if (server.listing !== undefined) server.listing['name'] = 'another name'
    expect((await report(server)).version).toBe(joined.version)
    const waiting = matchmaker.waitForServerOrders(server.token, { version: joined.version, waitMs: 10_000 })
    const begunAt = clock.now()
    await clock.advance(4000)
    matchmaker.holdSeats({ serverId: first, playerIds: ['ben'] })
    expect((await waiting).listing?.seats.map(({ playerId }) => playerId)).toEqual(['ann', 'ben'])
    expect(clock.now()).toBe(begunAt + 4000)
    // Renewing a hold keeps the same seat.
    const held = await report(server)
    matchmaker.holdSeats({ serverId: first, playerIds: ['ben'] })
    expect((await report(server)).version).toBe(held.version)
  })

  test('a listing with an attribute that the configuration does not allow is refused by field', async () => {
    const { listed, servers, report } = open()
    await listed()
    const [server] = servers
    if (server === undefined) throw new Error('no server')
    server.listing = { name: 'x', seats: 2, attributes: { mode: 'chess' } }
    await expect(report(server)).rejects.toThrow('listing.attributes.mode: must be one of ctf, dm')
  })

  test('a lost listed server accepts no new player, and keeps its seats', async () => {
    const { matchmaker, listed, run, servers, clock } = open({ pools: [world] })
    const [first = ''] = await listed()
    if (servers[0] !== undefined) servers[0].players = { ann: 'in' }
    await run(1000)
    for (let passed = 0; passed < 104; passed += 1) {
      await clock.advance(250)
      await matchmaker.tick()
    }
    const known = matchmaker.listedServers()
    expect(known.servers.find(({ id }) => id === first)).toMatchObject({ isOpen: false, seats: { taken: 1, free: 1 } })
    expect(refusal(() => matchmaker.holdSeats({ serverId: first, playerIds: ['ben'] })).code).toBe('server-closed')
    expect(matchmaker.seatsOf('ann')[0]?.serverId).toBe(first)
    await run(1000)
    // Only changed servers are returned.
    const changed = matchmaker.listedServers(known)
    expect(changed).toMatchObject({ isNew: false, gone: [], more: false })
    expect(changed.servers.find(({ id }) => id === first)?.isOpen).toBe(true)
    expect(matchmaker.listedServers(changed).servers).toEqual([])
  })
})

describe('a seat', () => {
  test('a seat is refused to a player in a match, and without the password of the server', async () => {
    const { matchmaker, listed, run, join } = open({ pools: [world] })
    const [first = ''] = await listed({ password: 'secret' })
    join('ann', 'ben')
    await run(9000)
    expect(() => matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })).toThrow(PlayerPlaying)
    const tries = ['', 'x', 'secre'].map(
      (password) => refusal(() => matchmaker.holdSeats({ serverId: first, playerIds: ['cat'], password })).code,
    )
    expect(tries).toEqual(['wrong-password', 'wrong-password', 'wrong-password'])
    // The right password is not compared any more, so nobody can find out that it is right.
    const late = refusal(() => matchmaker.holdSeats({ serverId: first, playerIds: ['cat'], password: 'secret' }))
    expect(late).toMatchObject({ code: 'too-many-tries', retryAfterMs: 60_000 })
    expect(JSON.stringify(matchmaker.listedServers())).not.toContain('secret')
    await run(61_000)
    matchmaker.holdSeats({ serverId: first, playerIds: ['cat'], password: 'secret' })
    expect(matchmaker.seatsOf('cat')).toHaveLength(1)
  })

  test('a seat is freed when its player is sent to a match, if the seat is held but not yet taken', async () => {
    const { matchmaker, listed, run, servers, join, status } = open({ pools: [world] })
    const [first = ''] = await listed()
    if (servers[0] !== undefined) servers[0].players = { ben: 'in' }
    await run(1000)
    matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
    join('ann', 'ben')
    await run(5000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(matchmaker.seatsOf('ann')).toEqual([])
    expect(matchmaker.seatsOf('ben')).toMatchObject([{ state: 'taken' }])
  })

  test('a seat is refused for another build and on a locked server', async () => {
    const { matchmaker, listed, servers, run } = open()
    const [first = ''] = await listed()
    expect(refusal(() => matchmaker.holdSeats({ serverId: first, playerIds: ['ann'], build: '8' })).code).toBe(
      'wrong-build',
    )
    if (servers[0]?.listing !== undefined) servers[0].listing['locked'] = true
    await run(1000)
    expect(refusal(() => matchmaker.holdSeats({ serverId: first, playerIds: ['ann'], build: '7' })).code).toBe(
      'server-closed',
    )
  })
})

test('a server whose stop waits for the deployment service is not listed, and its players are free', async () => {
  const fault = (method: string) => (method === 'stop' ? { error: new Error('away') } : undefined)
  const { matchmaker, servers, listed, report } = open({ service: { fate: () => ({ readyMs: 3000 }), fault } })
  const [first = '', second = ''] = await listed()
  const [server] = servers
  if (server === undefined) throw new Error('there is a server')
  server.players = { ann: 'in' }
  await report(server)
  expect(matchmaker.seatsOf('ann')).toMatchObject([{ serverId: first, state: 'taken' }])
  await matchmaker.stopServer(first)
  expect(matchmaker.seatsOf('ann')).toEqual([])
  expect(await report(server)).toMatchObject({ want: 'stop' })
  expect(matchmaker.listedServers().servers).toMatchObject([{ id: second }])
  expect(matchmaker.holdSeats({ serverId: second, playerIds: ['ann'] }).isNew).toBe(true)
})

describe('a server that players start by startServer', () => {
  const custom = { pool: 'arena', name: "ann's", attributes: { mode: 'dm' }, password: 'pw' }

  test('startServer uses a warm server if available: its players get seats, strangers need the password', async () => {
    const { matchmaker, service, run } = open()
    await run(8000)
    const created = service.calls.create.length
    const started = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'ben'] })
    expect(started.seats.map(({ state }) => state)).toEqual(['starting', 'starting'])
    expect((await matchmaker.startServer({ ...custom, playerIds: ['ann', 'ben'] })).seats).toEqual(started.seats)
    await run(2000)
    const seat = matchmaker.followSeat(started.seats[0]?.id ?? '', 'ann')
    expect(seat).toMatchObject({ state: 'held', playerId: 'ann' })
    expect(seat.joinToken).toBeDefined()
    // The stock is filled again.
    expect(service.calls.create).toHaveLength(created + 1)
    const [server] = matchmaker.listedServers().servers
    expect(server).toMatchObject({ name: "ann's", hasPassword: true, attributes: { mode: 'dm' } })
    expect(refusal(() => matchmaker.holdSeats({ serverId: server?.id ?? '', playerIds: ['cat'] })).code).toBe(
      'wrong-password',
    )
  })

  test('startServer never uses a server with a match on it, even if it could take further matches', async () => {
    const { matchmaker, run, join, seen } = open({ pools: [{ ...arena, reuse: { maxMatches: 20 } }] }, 4)
    await run(8000)
    join('dan', 'eve')
    await run(2000)
    const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    expect(seen.serverTaken).toHaveLength(1)
    expect(seats[0]?.serverId).not.toBe(seen.serverTaken?.[0]?.serverId)
  })

  test('startServer creates a server if none is warm, within the limits', async () => {
    const { matchmaker, run } = open({ pools: [{ ...arena, at: [] }] })
    await run(1000)
    const first = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await run(9000)
    expect(matchmaker.followSeat(first.seats[0]?.id ?? '').state).toBe('held')
    const start = (player: string) => matchmaker.startServer({ ...custom, playerIds: [player] })
    await matchmaker.releaseSeat(first.seats[0]?.id ?? '')
    await expect(start('ann')).rejects.toMatchObject({ name: 'SeatRefused', code: 'too-many-servers' })
    await start('ben')
    await start('cat')
    await expect(start('dan')).rejects.toMatchObject({ code: 'no-capacity', retryAfterMs: 10_000 })
    await expect(matchmaker.startServer({ ...custom, pool: 'other', playerIds: ['eve'] })).rejects.toThrow('pool: ')
  })

  test('a warm server that is given back returns to the pool, and giving back often starts a cooldown', async () => {
    const { matchmaker, service, run, clock } = open()
    await run(8000)
    const begunAt = clock.now()
    let refused = 0
    while (clock.now() < begunAt + 300_000) {
      try {
        const [seat] = (await matchmaker.startServer({ ...custom, playerIds: ['ann'] })).seats
        await matchmaker.releaseSeat(seat?.id ?? '', 'ann')
      } catch (error) {
        if (!(error instanceof PlayerCoolingDown)) throw error
        refused += 1
      }
      await run(1000)
    }
    expect(refused).toBeGreaterThan(200)
    expect([service.calls.create.length, service.calls.stop.length]).toEqual([2, 0])
    expect(matchmaker.inspect().pools).toMatchObject([{ idle: 2, draining: 0 }])
  })

  test('a booting server that its player gives back is stopped, and three of them start a cooldown', async () => {
    const { matchmaker, service, run } = open({ pools: [{ ...arena, at: [] }] })
    await run(1000)
    for (let nth = 0; nth < 60; nth += 1) {
      try {
        const [seat] = (await matchmaker.startServer({ ...custom, playerIds: ['ann'] })).seats
        await run(1000)
        await matchmaker.releaseSeat(seat?.id ?? '', 'ann')
      } catch (error) {
        if (!(error instanceof PlayerCoolingDown)) throw error
        await run(1000)
      }
    }
    expect(service.calls.create).toHaveLength(3)
    await run(10_000)
    expect(service.calls.stop).toHaveLength(3)
  })

  test('a server created for a player who gave it back is kept as long as an idle server', async () => {
    const { matchmaker, service, run, servers } = open({ pools: [{ ...arena, at: [], keepIdleSeconds: 30 }] })
    await run(1000)
    const [seat] = (await matchmaker.startServer({ ...custom, playerIds: ['ann'] })).seats
    while (servers.length === 0) await run(250)
    await matchmaker.releaseSeat(seat?.id ?? '', 'ann')
    for (const server of servers) server.listing = undefined
    await run(28_000)
    expect([matchmaker.inspect().pools[0]?.idle, service.calls.stop.length]).toEqual([1, 0])
    await run(5000)
    expect(service.calls.stop).toHaveLength(1)
  })

  test('a started server has no seat for a player who is sent to a match meanwhile', async () => {
    const { matchmaker, run, join, status } = open()
    await run(8000)
    join('ben', 'cat')
    await run(500)
    const start = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'eve'] })
    join('eve', 'fay')
    await run(8000)
    expect([status('ben-cat'), status('eve-fay')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(matchmaker.seatsOf('eve')).toEqual([])
    expect(matchmaker.followSeat(start.seats[0]?.id ?? '', 'ann').state).toBe('held')
    expect(() => matchmaker.followSeat(start.seats[1]?.id ?? '', 'eve')).toThrow(UnknownSeat)
  })

  test('a player-started server counts towards the player’s limit even if it reports no owner', async () => {
    const { matchmaker, run, servers } = open({ pools: [{ ...arena, custom: { ...arena.custom, emptySeconds: 600 } }] })
    await run(8000)
    const [seat] = (await matchmaker.startServer({ ...custom, playerIds: ['ann'] })).seats
    await run(2000)
    expect(matchmaker.followSeat(seat?.id ?? '').state).toBe('held')
    for (const { listing } of servers) if (listing !== undefined) delete listing['owner']
    await run(1000)
    await matchmaker.releaseSeat(seat?.id ?? '')
    await expect(matchmaker.startServer({ ...custom, playerIds: ['ann'] })).rejects.toMatchObject({
      name: 'SeatRefused',
      code: 'too-many-servers',
    })
  })

  test('a started server ends after it has been empty for `emptySeconds`', async () => {
    const { matchmaker, service, run, servers } = open({ pools: [{ ...arena, at: [] }] })
    await run(1000)
    await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await run(9000)
    if (servers[0] !== undefined) servers[0].players = { ann: 'in' }
    await run(120_000)
    expect(service.calls.stop).toHaveLength(0)
    if (servers[0] !== undefined) servers[0].players = {}
    await run(58_000)
    expect(service.calls.stop).toHaveLength(0)
    await run(6000)
    expect(service.calls.stop).toHaveLength(1)
    expect(matchmaker.listedServers().servers).toEqual([])
  })
})
