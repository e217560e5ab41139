/**
 * Tests seats on servers whose reports are lost, repeated or delayed. The seats that are free, held, taken and away
 * must add up to all seats. Nobody may have two seats. A server that checks join tokens must never have more players
 * than seats. The servers are models, but registration, reports and loss use the real registry of game servers.
 */
import { describe, expect, test } from 'vitest'
import { ReportBody } from '../records/server-reports.js'
import { admit, commands, HOLD_MS, holds, MAX_HOLD_MS, restart, SEATS, World } from './seats.fixture.js'

test('property: seats stay consistent under lost, repeated and late reports, and no player has two', () =>
  expect(holds(commands, 500)).resolves.toBeUndefined())

test('property: seats stay consistent when Muster restarts and loses its holds', () =>
  expect(holds([...commands, restart], 200)).resolves.toBeUndefined())

describe('a server that reports late that a player joined', () => {
  const full = () => {
    const world = new World()
    world.hold(['ann', 'ben'], 's0', undefined)
    admit(world, 'ann')
    return { world, model: world.model('s0') }
  }

  test('a player keeps the seat while the reports that they joined are lost', async () => {
    const { world, model } = full()
    await world.pass(22_000)
    model.report()
    await world.pass(2000)
    world.deliver(model, ReportBody.parse({ instance: model.name, seq: (model.seq += 1), listing: listingOf({}) }))
    await world.pass(10_000)
    // Both holds have expired. Their seats are not free yet, because no report has shown since then that the players
    // are not there.
    world.hold(['cat', 'dan'], 's0', undefined)
    expect(world.seats.ofPlayer('cat')).toBeUndefined()
    world.deliver(model, model.report())
    expect(world.seats.read('s0')?.counts).toEqual({ total: 2, free: 0, held: 1, taken: 1, away: 0 })
    await world.pass(5000)
    world.deliver(model, model.report())
    expect(world.seats.read('s0')?.counts).toEqual({ total: 2, free: 1, held: 0, taken: 1, away: 0 })
  })

  test('a player keeps the seat if the report that they joined was in flight when the hold ended', async () => {
    const { world, model } = full()
    const early = ReportBody.parse({ instance: model.name, seq: 50, listing: listingOf({}) })
    await world.pass(HOLD_MS + 4000)
    world.deliver(model, early)
    expect(world.seats.read('s0')?.counts.held).toBe(2)
  })

  const listingOf = (players: Record<string, 'in'>) => ({
    name: 'world',
    seats: SEATS,
    teams: { red: 1, blue: 1 },
    players,
  })
})

describe('a hold on a seat', () => {
  test('a hold on a seat is renewed while its client follows it, for at most 300 s', async () => {
    const world = new World()
    world.hold(['ann'], 's0', undefined)
    const { id = '' } = world.seats.ofPlayer('ann') ?? {}
    const begun = world.clock.now()
    for (let beat = 0; beat < 30; beat += 1) {
      await world.pass(9000)
      const seat = world.seats.renew(id)
      expect(seat?.until).toBe(Math.min(world.clock.now() + HOLD_MS, begun + MAX_HOLD_MS))
      world.deliver(world.model('s0'), world.model('s0').report())
    }
    await world.pass(40_000)
    world.deliver(world.model('s0'), world.model('s0').report())
    expect(world.seats.renew(id)).toBeUndefined()
  })

  test('the third hold within five minutes that a player does not use counts as an abuse', async () => {
    const world = new World()
    for (let hold = 1; hold <= 3; hold += 1) {
      world.hold(['ann'], 's0', undefined)
      await world.pass(HOLD_MS + 6000)
      world.deliver(world.model('s0'), world.model('s0').report())
      expect(world.unused).toBe(hold === 3 ? 1 : 0)
    }
  })
})

test('a player who left a server gets the seat again if the server reports them within five minutes', async () => {
  const world = new World()
  const model = world.model('s0')
  const say = (...players: readonly string[]) => {
    model.players = new Map(players.map((id) => [id, 'in']))
    world.deliver(model, model.report())
  }
  world.hold(['ann', 'ben'], 's0', undefined)
  say('ann', 'ben')
  say()
  await world.clock.advance(299_000)
  say('ann')
  await world.clock.advance(2000)
  say('ann', 'ben')
  expect(world.seats.givenTo('ann')).toMatchObject({ serverId: 's0', state: 'taken' })
  expect(world.seats.givenTo('ben')).toBeUndefined()
})
