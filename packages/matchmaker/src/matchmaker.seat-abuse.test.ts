import { describe, expect, test } from 'vitest'
import { PlayerCoolingDown, SeatRefused } from './errors.js'
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

describe('a seat of a player who is away and may return', () => {
  const away = async () => {
    const all = open({ pools: [{ ...arena, custom: { perPlayer: 1, max: 3, emptySeconds: 3600 } }] })
    const [first = '', second = ''] = await all.listed()
    const { seats } = all.matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
    const [server] = all.servers
    if (server === undefined) throw new Error('no server')
    server.players = { ann: 'in' }
    await all.run(1000)
    server.players = { ann: 'away' }
    await all.run(1000)
    const counts = () => all.matchmaker.listedServers().servers.find(({ id }) => id === first)?.seats
    return { ...all, first, second, server, seatId: seats[0]?.id ?? '', counts }
  }

  test('a seat that an absent player gives back is free, even while the server still reports this player', async () => {
    const { matchmaker, run, server, seatId, counts, report } = await away()
    await matchmaker.releaseSeat(seatId, 'ann')
    for (const ms of [0, 1000, 10_000, 60_000]) {
      await run(ms)
      expect(matchmaker.seatsOf('ann')).toEqual([])
      expect(counts()).toMatchObject({ free: 2, away: 0 })
    }
    expect((await report(server)).listing?.seats).toEqual([])
  })

  test('a player who gave a seat back and took a new seat keeps the new seat while away', async () => {
    const { matchmaker, run, first, server, seatId, counts } = await away()
    await matchmaker.releaseSeat(seatId, 'ann')
    await run(1000)
    const { seats } = matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
    server.players = { ann: 'in' }
    await run(1000)
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ id: seats[0]?.id, state: 'taken' }])
    server.players = { ann: 'away' }
    await run(1000)
    expect(counts()).toMatchObject({ free: 1, away: 1 })
  })

  test('an absent player keeps the seat if a group member takes seats on another server for the group', async () => {
    const { matchmaker, second, seatId } = await away()
    const request = { serverId: second, playerIds: ['eve', 'ann'], groupId: 'g' }
    expect(refusal(() => matchmaker.holdSeats({ ...request, by: 'eve' }))).toMatchObject({
      code: 'seat-held-elsewhere',
      playerId: 'ann',
    })
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ id: seatId, state: 'away' }])
    await expect(
      matchmaker.startServer({ pool: 'arena', playerIds: ['eve', 'ann'], attributes: {}, by: 'eve' }),
    ).rejects.toMatchObject({ code: 'seat-held-elsewhere' })
    matchmaker.holdSeats({ ...request, by: 'ann' })
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ serverId: second, state: 'held' }])
  })
})

describe('a player who holds seats again and again', () => {
  test('a player who repeatedly gives seats back just before they expire gets a cooldown', async () => {
    const { matchmaker, listed, run } = open()
    const [first = ''] = await listed()
    let heldMs = 0
    const hold = async () => {
      const [seat] = matchmaker.holdSeats({ serverId: first, playerIds: ['ann'], by: 'ann' }).seats
      for (let ms = 0; ms < 200_000; ms += 20_000) {
        await run(20_000)
        matchmaker.followSeat(seat?.id ?? '', 'ann')
        heldMs += 20_000
      }
      await matchmaker.releaseSeat(seat?.id ?? '', 'ann')
    }
    const again = async () => {
      for (let nth = 0; nth < 20; nth += 1) await hold()
    }
    await expect(again()).rejects.toThrow(PlayerCoolingDown)
    expect(heldMs).toBeLessThanOrEqual(600_000)
  })

  test('a player who holds seats for some seconds while browsing servers gets no cooldown', async () => {
    const { matchmaker, listed, run } = open({ pools: [world] })
    const [first = ''] = await listed()
    for (let nth = 0; nth < 20; nth += 1) {
      const [seat] = matchmaker.holdSeats({ serverId: first, playerIds: ['ann'], by: 'ann' }).seats
      await run(5000)
      await matchmaker.releaseSeat(seat?.id ?? '', 'ann')
      await run(15_000)
    }
    expect(matchmaker.seatsOf('ann')).toEqual([])
  })
})

describe('the passwords of listed servers', () => {
  /** Sends this many guesses, each from its own account. Returns how many of them were compared with the password. */
  const guesses = async (count: number, addressOf: (nth: number) => string | undefined) => {
    const { matchmaker, listed, clock } = open()
    const [first = ''] = await listed({ password: 'right' })
    const guess = (nth: number, password: string) => {
      const address = addressOf(nth)
      return refusal(() =>
        matchmaker.holdSeats({ serverId: first, playerIds: [`p${nth}`], password, address, by: `p${nth}` }),
      )
    }
    const codes = Array.from({ length: count }, (_, nth) => guess(nth, 'wrong').code)
    return { compared: codes.filter((code) => code === 'wrong-password').length, guess, clock }
  }

  test.each([
    ['an IPv4 address', 200, () => '203.0.113.7', 20],
    ['an IPv4 network', 200, (nth: number) => `203.0.113.${nth % 250}`, 60],
    ['an IPv6 network', 200, (nth: number) => `2001:db8:1:${nth.toString(16)}::1`, 60],
    ['one target server', 400, (nth: number) => `198.51.${nth % 250}.7`, 120],
  ])(
    'guesses of server passwords are limited per minute for accounts that share %s',
    async (_, count, addressOf, most) => {
      const { compared, guess, clock } = await guesses(count, addressOf)
      expect(compared).toBe(most)
      // At the limit, the right password is refused like a wrong one.
      expect(guess(7, 'right').code).toBe('too-many-tries')
      await clock.advance(60_000)
      expect(guess(8, 'wrong').code).toBe('wrong-password')
    },
  )
})
