/** A process is killed at any moment after any commands. Everything that it has answered must survive. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MusterError } from '@muster/core'
import { createWorld, duel } from './logged-matchmaker.fixture.js'
import type { Ticket } from './tickets/ticket.js'

type Life = Awaited<ReturnType<ReturnType<typeof createWorld>['live']>>

const who = fc.constantFrom('ann', 'ben', 'cas', 'dee', 'eve', 'fay')
const joining = fc.record({
  kind: fc.constant('join' as const),
  players: fc.uniqueArray(who, { minLength: 1, maxLength: 2 }),
  several: fc.boolean(),
})
const acts = ['cancel', 'accept', 'decline', 'left'] as const
const command = fc.oneof(
  { weight: 4, arbitrary: joining },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom(...acts), nth: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(250, 1000, 6000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rewrite' as const }) },
)
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

const queues = [
  { ...duel, expireAfterMs: 30_000 },
  { ...duel, name: 'asked', acceptance: { withinMs: 5000 }, expireAfterMs: 30_000 },
]

/** Performs the action, unless it is not permitted now. */
async function perform({ matchmaker, run, log }: Life, ids: string[], given: Command): Promise<void> {
  const id = 'nth' in given ? (ids[given.nth % Math.max(1, ids.length)] ?? 'none') : ''
  try {
    if (given.kind === 'join') {
      const players = given.players.map((player) => ({ id: player, ip: '192.0.2.1' }))
      const waitsIn = given.several ? ['duel', 'asked'] : ['asked']
      ids.push(matchmaker.createTicket({ queues: waitsIn, players }).id)
    } else if (given.kind === 'run') await run(given.ms)
    else if (given.kind === 'cancel') matchmaker.cancelTicket(id)
    else if (given.kind === 'accept') matchmaker.acceptMatch(id)
    else if (given.kind === 'decline') matchmaker.declineMatch(id)
    else if (given.kind === 'left') {
      const { matchId = '', players = [] } = matchmaker.getTicket(id) ?? {}
      matchmaker.playersLeft(
        matchId,
        players.map((player) => player.id),
      )
    } else await log.advance()
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
  }
}

/** Returns the tickets that have not ended, by id. */
const inForce = ({ matchmaker }: Life, ids: readonly string[]): ReadonlyMap<string, Ticket> => {
  const { matches } = matchmaker.inspect()
  const running = new Set(matches.map(({ matchId, phase }) => (phase === 'running' ? matchId : '')))
  const all = ids.flatMap((id) => matchmaker.getTicket(id) ?? [])
  const isOver = ({ status, matchId = '' }: Ticket) =>
    status === 'CANCELLED' || (status === 'HOST_ASSIGNED' && !running.has(matchId))
  return new Map(all.filter((ticket) => !isOver(ticket)).map((ticket) => [ticket.id, ticket]))
}

const searchingAgain = (ticket: Ticket): Ticket => ({
  ...ticket,
  status: 'SEARCHING',
  version: ticket.version + 1,
  waitingFor: 'players',
  matchId: undefined,
  matchedAt: undefined,
  queue: undefined,
  team: undefined,
  acceptance: undefined,
})

const seen = (life: Life, ids: readonly string[]) => ({ tickets: inForce(life, ids), ids: [...ids] })

test('property: kill -9 between two commands loses no stored state and restores none that had ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(command, { maxLength: 12 }), { minLength: 1, maxLength: 3 }), async (lives) => {
      const world = createWorld({ queues, endedTicketTtlMs: 0 })
      try {
        const ids: string[] = []
        let life = await world.live({ log: { compactAtBytes: 1 } })
        for (const commands of lives) {
          // By then, the process has read its store.
          await life.run(250)
          for (const one of commands) await perform(life, ids, one)
          const before = inForce(life, ids)
          const deployed = new Set(life.matchmaker.inspect().matches.map(({ matchId }) => matchId))
          world.kill()
          life = await world.live({ log: { compactAtBytes: 1 } })
          const after = ids.flatMap((id) => life.matchmaker.getTicket(id) ?? [])
          expect(after.map(({ id }) => id).toSorted()).toEqual([...before.keys()].toSorted())
          for (const one of after) {
            const known = before.get(one.id)
            const wasAsked = known?.status === 'MATCH_FOUND' && !deployed.has(known.matchId ?? '')
            // Tickets whose match awaited acceptance search again.
            expect(one).toEqual(wasAsked ? searchingAgain(known) : known)
          }
        }
        // At the end, no player and no server may be left.
        await life.run(60_000)
        for (const { matchId } of life.matchmaker.inspect().matches) void life.matchmaker.stopMatch(matchId)
        await life.run(10_000)
        expect(life.matchmaker.exportTickets().tickets).toEqual([])
        expect(world.service.unstopped()).toEqual([])
      } finally {
        await world.remove()
      }
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 10 },
  )
})

test('property: after kill -9 during a write, the ticket log holds the results of whole commands only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 15 }), fc.nat(), async (commands, at) => {
      const world = createWorld({ queues, endedTicketTtlMs: 0 })
      try {
        const life = await world.live()
        const ids: string[] = []
        life.log.flush()
        const steps = [{ size: statSync(world.path()).size, ...seen(life, ids) }]
        for (const one of commands) {
          await perform(life, ids, one)
          steps.push({ size: statSync(world.path()).size, ...seen(life, ids) })
        }
        const bytes = readFileSync(world.path())
        const size = at % (bytes.length + 1)
        world.kill()
        writeFileSync(world.path(), bytes.subarray(0, size))

        const next = await world.live()
        const last = Math.max(
          0,
          steps.findLastIndex((step) => step.size <= size),
        )
        const [before, after] = [steps[last], steps[last + 1]]
        for (const id of ids) {
          const ticket = next.matchmaker.getTicket(id)
          const [old, young] = [before?.tickets.get(id), after?.tickets.get(id)]
          // The ticket had ended, or was about to be created.
          if (old === undefined) expect(ticket === undefined || after?.ids.includes(id)).toBe(true)
          else if (young !== undefined || after === undefined) {
            expect(ticket?.version).toBeGreaterThanOrEqual(old.version)
            if (ticket?.version === old.version) expect(ticket).toEqual(old)
          } else expect(ticket?.players ?? old.players).toEqual(old.players)
        }
      } finally {
        await world.remove()
      }
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 15 },
  )
})
