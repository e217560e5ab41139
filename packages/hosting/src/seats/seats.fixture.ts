import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { GameServers, isOpen } from '../game-servers/index.js'
import { Server, type ServerReport } from '../records/index.js'
import { RegistrationBody, ReportBody } from '../records/server-reports.js'
import { Seats, type Seat, SeatRefused, UnknownServer } from './index.js'

export const SEATS = 2
export const HOLD_MS = 30_000
export const MAX_HOLD_MS = 300_000
const LATE_MS = 4000
const PLAYERS = ['ann', 'ben', 'cat', 'dan']
const SERVERS = ['s0', 's1']

interface Token {
  readonly seat: Seat
  readonly until: number
}

/** A game server that admits players with a valid token and reports who is there. */
class Model {
  readonly server: Server
  instance = 0
  seq = 0
  isListed = true
  players = new Map<string, 'in' | 'away'>()
  sent: ServerReport[] = []
  readonly id: string
  constructor(id: string) {
    this.id = id
    this.server = new Server({ serverId: id, queue: 'pool', tag: id, at: 0, pool: 'pool' }, undefined)
  }
  get name() {
    return `${this.id}-${this.instance}`
  }
  report(): ServerReport {
    this.seq += 1
    const players = Object.fromEntries(this.players)
    const listing = this.isListed ? { name: 'world', seats: SEATS, teams: { red: 1, blue: 1 }, players } : undefined
    const report = ReportBody.parse({ instance: this.name, seq: this.seq, ...(listing && { listing }) })
    this.sent.push(report)
    return report
  }
}

export class World {
  readonly clock = createManualClock()
  readonly models = SERVERS.map((id) => new Model(id))
  /** The newest token of each player. A client discards its token when it gives the seat back. */
  readonly tokens = new Map<string, Token>()
  readonly late: { readonly at: number; readonly model: Model; readonly report: ServerReport }[] = []
  unused = 0
  /** When Muster last restarted. Until the seats from before have expired, servers may have more players than seats. */
  restartedAt = -Infinity
  seats!: Seats
  servers!: GameServers

  constructor() {
    this.begin()
    for (const model of this.models) {
      this.register(model)
      this.deliver(model, model.report())
    }
  }

  begin() {
    const servers = new GameServers({
      clock: this.clock,
      joinKeyOf: () => new Uint8Array(32),
      joinAlgorithm: 'HS256',
      on: {
        rosterOf: () => undefined,
        accepted: () => {},
        loads: () => {},
        refused: () => {},
        came: () => {},
        left: () => {},
        over: () => {},
        seatsWanted: () => true,
        registered: () => {},
        draining: () => {},
        lost: () => {},
        returned: () => {},
        spent: () => {},
        problem: () => {},
        heard: () => {},
        knockOf: () => undefined,
        listed: ({ id }, listing, instance) => seats.listed(id, listing, instance),
        seatsOn: ({ id }) => ({ listing: seats.on(id) }),
        listingOf: () => undefined,
        placeOf: () => undefined,
        isOccupied: ({ id }) => seats.isOccupied(id),
      },
    })
    const seats: Seats = new Seats({
      clock: this.clock,
      random: seededRandom(1),
      holdMs: HOLD_MS,
      maxHoldMs: MAX_HOLD_MS,
      server: (id) => ({ build: undefined, isOpen: isOpen(this.model(id).server) }),
      changed: (id) => servers.changed(this.model(id).server),
      unused: () => {
        this.unused += 1
      },
    })
    this.seats = seats
    this.servers = servers
  }

  model(id: string): Model {
    return this.models.find((model) => model.id === id) as Model
  }

  register(model: Model) {
    this.servers.register(model.server, RegistrationBody.parse({ instance: model.name }))
  }

  deliver(model: Model, report: ServerReport) {
    try {
      this.servers.report(model.server, report)
    } catch {
      // The Muster process has restarted, or the server's process has been replaced.
      if (report.instance !== model.name) return
      this.register(model)
      this.servers.report(model.server, report)
    }
  }

  async pass(ms: number) {
    for (let passed = 0; passed < ms; passed += 1000) {
      await this.clock.advance(1000)
      for (const one of this.late.splice(0)) {
        if (one.at <= this.clock.now()) this.deliver(one.model, one.report)
        else this.late.push(one)
      }
      this.servers.advance(this.clock.now(), false)
      this.seats.advance(this.clock.now())
    }
  }

  hold(playerIds: readonly string[], serverId: string, team: string | undefined) {
    const before = playerIds.map((id) => this.seats.ofPlayer(id))
    try {
      const { seats } = this.seats.hold({ serverId, playerIds, team, groupId: 'party' })
      strictEqual(seats.length, playerIds.length)
      for (const seat of seats)
        this.tokens.set(seat.playerId, { seat, until: seat.until ?? this.clock.now() + HOLD_MS })
      // A client that gets a seat on this server leaves the server where it only held a seat.
      for (const [index, id] of playerIds.entries())
        if (before[index]?.state === 'held' && before[index]?.serverId !== serverId)
          this.model(before[index]?.serverId ?? '').players.delete(id)
    } catch (error) {
      if (!(error instanceof SeatRefused) && !(error instanceof UnknownServer)) throw error
      // A refused request changes no seat.
      deepStrictEqual(
        playerIds.map((id) => this.seats.ofPlayer(id)),
        before,
      )
      if (error instanceof SeatRefused && error.code === 'server-full')
        for (const id of error.alternatives ?? []) ok((this.seats.read(id)?.counts.free ?? 0) >= playerIds.length)
    }
  }

  check() {
    const seen = new Map<string, string>()
    for (const model of this.models) {
      const listed = this.seats.read(model.id)
      if (listed === undefined) continue
      const { total, free, held, taken, away } = listed.counts
      strictEqual(free + held + taken + away, total)
      strictEqual(
        listed.teams.reduce((sum, team) => sum + team.free, 0),
        free,
      )
      const onIt = this.seats.on(model.id)?.seats ?? []
      strictEqual(onIt.length, held + taken + away)
      for (const { playerId, id, state } of onIt) {
        // A held seat is always the player's only seat.
        if (state === 'held') strictEqual(this.seats.ofPlayer(playerId)?.id, id)
        if (this.seats.ofPlayer(playerId)?.serverId !== model.id) continue
        strictEqual(seen.get(playerId), undefined)
        seen.set(playerId, model.id)
      }
      if (this.clock.now() < this.restartedAt + MAX_HOLD_MS) continue
      // A player may give back an away seat while the server still reports the player as away. Such players have no
      // seat.
      const seated = new Set(onIt.map(({ playerId }) => playerId))
      const present = [...model.players].filter(([id, status]) => status === 'in' || seated.has(id))
      ok(present.length <= SEATS)
      strictEqual(total, SEATS)
    }
  }
}

type Command = fc.AsyncCommand<object, World>
const command = (name: string, run: (world: World) => void | Promise<void>): Command => ({
  check: () => true,
  run: async (_, world) => {
    await run(world)
    world.check()
  },
  toString: () => name,
})

const player = fc.constantFrom(...PLAYERS)
const server = fc.constantFrom(...SERVERS)
const party = fc.uniqueArray(player, { minLength: 1, maxLength: 2 })
const team = fc.constantFrom(undefined, 'red', 'blue')

/** Lets the client connect if its server would admit it: its token is valid for the server's session. */
export const admit = (world: World, id: string) => {
  const token = world.tokens.get(id)
  if (token === undefined) return
  const model = world.model(token.seat.serverId)
  const isReturn = model.players.has(id)
  if (token.seat.session !== model.name || (!isReturn && world.clock.now() >= token.until)) return
  // The server admits new players only if its orders list their seat. A returned seat is not listed.
  if (!isReturn && world.seats.on(model.id)?.seats.some((seat) => seat.id === token.seat.id) !== true) return
  // A client is on one server at a time.
  for (const other of world.models) if (other !== model && other.players.get(id) === 'in') return
  model.players.set(id, 'in')
}

export const commands = [
  fc.tuple(party, server, team).map(([ids, id, one]) => command(`hold ${ids} on ${id}`, (w) => w.hold(ids, id, one))),
  fc.tuple(party, server, team).map(([ids, id, one]) => command(`hold ${ids} on ${id}`, (w) => w.hold(ids, id, one))),
  player.map((id) =>
    command(`renew ${id}`, (w) => {
      const seat = w.seats.ofPlayer(id)
      const renewed = seat && w.seats.renew(seat.id)
      if (renewed?.until !== undefined) w.tokens.set(id, { seat: renewed, until: renewed.until })
    }),
  ),
  player.map((id) =>
    command(`release ${id}`, (w) => {
      const seat = w.seats.ofPlayer(id)
      if (seat === undefined) return
      strictEqual(w.seats.release(seat.id), true)
      strictEqual(w.seats.ofPlayer(id), undefined)
      if (seat.state === 'held') w.model(seat.serverId).players.delete(id)
      w.tokens.delete(id)
    }),
  ),
  player.map((id) => command(`connect ${id}`, (w) => admit(w, id))),
  player.map((id) => command(`connect ${id}`, (w) => admit(w, id))),
  player.map((id) =>
    command(`drop ${id}`, ({ models }) => {
      for (const { players } of models) if (players.has(id)) players.set(id, 'away')
    }),
  ),
  player.map((id) =>
    command(`leave ${id}`, (w) => {
      for (const { players } of w.models) if (players.delete(id)) w.tokens.delete(id)
    }),
  ),
  server.map((id) => command(`report ${id}`, (w) => w.deliver(w.model(id), w.model(id).report()))),
  server.map((id) => command(`report ${id}`, (w) => w.deliver(w.model(id), w.model(id).report()))),
  server.map((id) => command(`lost report ${id}`, (w) => void w.model(id).report())),
  fc.tuple(server, fc.integer({ min: 0, max: LATE_MS })).map(([id, ms]) =>
    command(`late report ${id} ${ms}`, (w) => {
      w.late.push({ at: w.clock.now() + ms, model: w.model(id), report: w.model(id).report() })
    }),
  ),
  fc.tuple(server, fc.nat(50)).map(([id, back]) =>
    command(`repeated report ${id} ${back}`, (w) => {
      const { sent, name } = w.model(id)
      const old = sent.at(-1 - back)
      if (old?.instance === name) w.deliver(w.model(id), old)
    }),
  ),
  fc.constantFrom(1000, 5000, 12_000, 26_000, 31_000, 100_000).map((ms) => command(`pass ${ms}`, (w) => w.pass(ms))),
  server.map((id) =>
    command(`new process ${id}`, (w) => {
      const model = w.model(id)
      model.instance += 1
      model.seq = 0
      model.players.clear()
      w.register(model)
      w.deliver(model, model.report())
    }),
  ),
  server.map((id) =>
    command(`end ${id}`, (w) => {
      const model = w.model(id)
      w.servers.forget(model.server)
      strictEqual(w.seats.read(id), undefined)
      model.instance += 1
      model.players.clear()
    }),
  ),
]

export const restart = fc.constant(
  command('our restart', (w) => {
    w.restartedAt = w.clock.now()
    w.begin()
  }),
)

/** Runs random sequences of commands. */
export const holds = async (each: fc.Arbitrary<Command>[], numRuns: number) =>
  fc.assert(
    fc.asyncProperty(fc.commands(each, { maxCommands: 120, size: 'max' }), async (run) => {
      await fc.asyncModelRun(() => ({ model: {}, real: new World() }), run)
    }),
    { numRuns },
  )
