/** Tests the number of servers of a pool, whatever its servers report. */
import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { open, world } from './listed-servers.fixture.js'

const always = { cron: '* * * * *', minutes: 2 }

/** Returns the servers for which the service charges. */
const paid = ({ service }: ReturnType<typeof open>) => service.unstopped().length

test('if all servers of a pool list themselves, the pool creates no more servers than its warm stock', async () => {
  const game = open({ pools: [{ ...world, at: [{ ...always, min: 3 }] }] })
  for (let second = 0; second < 300; second += 1) {
    await game.run(1000)
    for (const [nth, server] of game.servers.entries()) server.listing ??= { name: `world ${nth}`, seats: 8 }
  }
  expect([game.service.calls.create.length, paid(game)]).toEqual([3, 3])
})

test('a pool keeps its warm servers in addition to listed servers with players', async () => {
  const game = open({ pools: [{ ...world, at: [{ ...always, min: 2 }] }] })
  const [first = ''] = await game.listed()
  game.matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
  game.servers.forEach((server, nth) => (server.players = nth === 0 ? { ann: 'in' } : {}))
  await game.run(20_000)
  expect(paid(game)).toBe(3)
})

test('a pool whose servers report players without seats grows only to its maximum of warm servers', async () => {
  const game = open({ pools: [{ ...world, warm: { hit: 0, max: 5 }, at: [{ ...always, min: 3 }] }] })
  for (let second = 0; second < 300; second += 1) {
    await game.run(1000)
    for (const [nth, server] of game.servers.entries()) {
      server.listing ??= { name: `world ${nth}`, seats: 8 }
      server.players = { [`phantom${nth}`]: 'in' }
    }
  }
  expect(paid(game)).toBe(5)
})

/** Actions of a server, one per second. */
const DEEDS = ['list', 'unlist', 'lock', 'phantom', 'empty', 'drain', 'session', 'sick', 'nothing'] as const

test('property: a pool never has more servers than its matches, seats and limits explain', async () => {
  for (let seed = 1; seed <= 2; seed += 1) {
    const random = seededRandom(seed)
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
    const max = 4
    const custom = { perPlayer: 1, max: 2, emptySeconds: 60 }
    const game = open({
      pools: [{ ...world, custom, warm: { hit: 0.9, maxIdleShare: 10, max }, at: [{ ...always, min: 3 }] }],
    })
    const { matchmaker, service, servers, seen } = game
    const seats = new Set<string>()
    let nth = 0
    let most = 0
    for (let second = 0; second < 240; second += 1) {
      await game.run(1000)
      for (const [index, server] of servers.entries()) {
        if (server === undefined) continue
        const deed = pick(DEEDS)
        if (deed === 'list') server.listing ??= { name: `world ${index}`, seats: 4 }
        if (deed === 'unlist') server.listing = undefined
        if (deed === 'lock' && server.listing !== undefined) server.listing['locked'] = random() < 0.5
        if (deed === 'phantom') server.players = { [`phantom${index}`]: 'in' }
        if (deed === 'empty') server.players = {}
        if (deed === 'session' && server.listing !== undefined) server.listing['session'] = `s${second}`
        if (deed === 'drain') server.says = { draining: true }
        if (deed === 'sick') server.says = { healthy: random() < 0.5 }
      }
      nth += 1
      if (random() < 0.1) game.join(`a${nth}`, `b${nth}`)
      if (random() < 0.1) {
        const [one] = service.unstopped().length === 0 ? [] : matchmaker.seatsOf(`p${nth - 1}`)
        if (one !== undefined) await matchmaker.releaseSeat(one.id, `p${nth - 1}`)
        try {
          const [server] = matchmaker
            .listedServers()
            .servers.filter(({ isOpen, seats: { free } }) => isOpen && free > 0)
          if (server !== undefined)
            for (const seat of matchmaker.holdSeats({ serverId: server.id, playerIds: [`p${nth}`] }).seats)
              seats.add(seat.playerId)
          else await matchmaker.startServer({ playerIds: [`p${nth}`], attributes: {} })
        } catch {
          // The request was refused, and nothing was created.
        }
      }
      const { matches } = matchmaker.inspect()
      const withMatches = new Set(matches.flatMap(({ hosted }) => hosted?.serverId ?? []))
      const withSeats = new Set([...seats].flatMap((id) => matchmaker.seatsOf(id).map(({ serverId }) => serverId)))
      const stopping = matches.filter(({ phase }) => phase === 'stopping').length
      const bound = withMatches.size + withSeats.size + custom.max + max + stopping
      most = Math.max(most, paid(game))
      expect({ seed, second, isWithin: paid(game) <= bound, paid: paid(game), bound }).toMatchObject({ isWithin: true })
    }
    // The property proves something only if the pool was busy.
    expect([most >= max, (seen.serverAssigned ?? []).length > 0]).toEqual([true, true])
  }
})
