/**
 * A process was killed after any commands. Before the next process has read the store, none of its answers may be
 * false.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlayerBusy, PlayerPlaying, Unavailable } from './errors.js'
import type { ServerLog } from '@muster/hosting/internal'
import { createMatchmaker } from './create-matchmaker.js'
import { createWorld, duel } from './logged-matchmaker.fixture.js'
import type { Matchmaker } from './matches/matchmaker.js'

const RECORDED = { until: 'recorded' } as const

type Life = Awaited<ReturnType<ReturnType<typeof createWorld>['live']>>

const PLAYERS = ['ann', 'ben', 'cas', 'dee', 'eve', 'fay']
const party = fc.shuffledSubarray(PLAYERS, { minLength: 1, maxLength: 2 })
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('join' as const), players: party }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(250, 1000, 6500) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), nth: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('left' as const), nth: fc.nat(5) }) },
)
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

const joinOf = (matchmaker: Matchmaker, players: readonly string[]) =>
  matchmaker.createTicket({ queue: 'duel', players: players.map((id) => ({ id, ip: '192.0.2.1' })) })

/** Performs a command. */
async function perform({ matchmaker, run }: Life, given: Command): Promise<void> {
  const running = matchmaker.inspect().matches.filter(({ phase }) => phase === 'running')
  const match = 'nth' in given ? running[given.nth % Math.max(1, running.length)] : undefined
  if (given.kind === 'run') await run(given.ms)
  else if (given.kind === 'stop' && match !== undefined) await matchmaker.stopMatch(match.matchId, RECORDED)
  else if (given.kind === 'left' && match !== undefined)
    await matchmaker.playersLeft(match.matchId, match.playerIds.slice(0, 1))
  else if (given.kind === 'join') {
    try {
      joinOf(matchmaker, given.players)
    } catch (error) {
      if (!(error instanceof PlayerBusy || error instanceof PlayerPlaying)) throw error
    }
  }
}

/** Returns the truth: the tickets and matches in which each player is, and the running matches. */
function truthOf({ matchmaker }: Life) {
  const running = matchmaker.inspect().matches.filter(({ phase }) => phase === 'running')
  const playing = new Map(running.flatMap(({ matchId, playerIds }) => playerIds.map((id) => [id, matchId] as const)))
  const tickets = PLAYERS.flatMap((id) => matchmaker.findPlayer(id).tickets)
  const withoutServer = tickets.filter(({ status }) => status !== 'HOST_ASSIGNED')
  const waiting = new Set(withoutServer.flatMap(({ players }) => players.map(({ id }) => id)))
  return { running, playing, waiting, ticketIds: new Set(tickets.map(({ id }) => id)) }
}
type Truth = ReturnType<typeof truthOf>

/** Sends every read. Returns the answers, `unknown` for those that are not known yet. */
async function ask({ matchmaker }: Life, truth: Truth): Promise<ReadonlySet<'true' | 'unknown'>> {
  const { running, playing, waiting, ticketIds } = truth
  const answers = new Set<'true' | 'unknown'>()
  const expectAnswer = async (asked: () => unknown, isTrue: (answer: unknown) => boolean) => {
    let answer: unknown
    try {
      answer = await asked()
    } catch (error) {
      answer = error
    }
    if (answer instanceof Unavailable) return answers.add('unknown')
    expect(isTrue(answer), `${String(asked)} gave ${String(answer)}`).toBe(true)
    return answers.add('true')
  }
  const isGiven = (answer: unknown) => answer !== undefined
  const isDone = (answer: unknown) => answer === undefined
  for (const id of ticketIds) await expectAnswer(() => matchmaker.getTicket(id), isGiven)
  for (const [id, matchId] of playing) {
    const isPlaying = (answer: unknown) => answer instanceof PlayerPlaying
    await expectAnswer(() => joinOf(matchmaker, [id]), isPlaying)
    const hasMatch = (answer: unknown) => JSON.stringify(answer).includes(matchId)
    await expectAnswer(() => matchmaker.findPlayer(id), hasMatch)
  }
  const isBusy = (answer: unknown) => answer instanceof PlayerBusy
  for (const id of waiting) await expectAnswer(() => joinOf(matchmaker, [id]), isBusy)
  for (const { matchId } of running) {
    await expectAnswer(() => matchmaker.playersLeft(matchId, ['nobody']), isDone)
    await expectAnswer(() => matchmaker.stopMatch(matchId, RECORDED), isDone)
  }
  return answers
}

test('property: after kill -9 at any step, a restarted process gives no wrong answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), fc.nat(3), async (commands, failures) => {
      const world = createWorld({ queues: [duel] })
      try {
        let life = await world.live()
        for (const one of commands) await perform(life, one)
        const truth = truthOf(life)
        world.kill()

        // The store cannot be read a few times, and is slow after that.
        let left = failures
        let read = () => {}
        const over = (serverLog: ServerLog): ServerLog => ({
          ...serverLog,
          open: async () => {
            if ((left -= 1) >= 0) throw new Error('written by a newer version')
            await new Promise<void>((resolve) => (read = resolve))
            return serverLog.open()
          },
        })
        life = await world.live({ isRead: false, over })
        const before = await ask(life, truth)
        expect([...before].filter((answer) => answer !== 'unknown')).toEqual([])
        const ready = life.matchmaker.ready()
        for (let tries = 0; tries <= failures; tries += 1) {
          expect((await ask(life, truth)).has('true')).toBe(false)
          await world.clock.advance(1000)
        }
        read()
        await ready
        expect((await ask(life, truth)).has('unknown')).toBe(false)
      } finally {
        await world.remove()
      }
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 40 },
  )
})

test('a matchmaker without a store is ready immediately', async () => {
  const never = () => new Promise<never>(() => {})
  const deployments = { create: never, get: never, stop: never, list: never }
  const matchmaker = createMatchmaker({ deployments, queues: [duel] })
  expect(joinOf(matchmaker, ['ann']).status).toBe('SEARCHING')
  await matchmaker.ready()
  await matchmaker.close()
})

test('before the store is read, methods that depend on its contents throw or reject', async () => {
  const world = createWorld()
  try {
    const over = (serverLog: ServerLog): ServerLog => ({ ...serverLog, open: () => new Promise<never>(() => {}) })
    const { matchmaker } = await world.live({ isRead: false, over })
    const rejected = matchmaker.waitForChange('x', { version: 1 })
    await expect(rejected).rejects.toThrow(Unavailable)
    await expect(matchmaker.stopMatch('x')).rejects.toThrow(Unavailable)
    expect(() => matchmaker.serverReady('x', 'y')).toThrow(Unavailable)
    const hook = await matchmaker.webhook(new Request('http://muster.invalid/m/s', { method: 'POST' }))
    expect([hook.status, hook.headers.get('retry-after')]).toEqual([503, '1'])
    const waiting = new AbortController()
    const ready = matchmaker.ready(waiting.signal)
    waiting.abort(new Error('enough'))
    await expect(ready).rejects.toThrow('enough')
    expect(matchmaker.queueNames()).toEqual(['duel'])
    await matchmaker.close({ timeoutMs: 1 })
    expect(() => matchmaker.getTicket('x')).toThrow(/closed/)
  } finally {
    await world.remove()
  }
})
