/**
 * Tests the promises of a partition when its leader ends: with rival processes, many matches, wrong clocks and pending
 * stops.
 */
import { seededRandom, systemClock } from '@muster/core/clock'
import type { Inspection, Ticket } from '@muster/matchmaker'
import { skipsRedis } from '@muster/redis-server'
import { afterEach, describe, expect, test } from 'vitest'
import { openWorld, type Answer } from './partition-world.js'
import { endAll, type Victim } from './processes.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
/** Number of matches that run while other processes take over. */
const matches = Number(process.env['CHAOS_MATCHES'] ?? 5000)
/** Number of times that a leader ends while stops are pending, alternately by SIGKILL and by SIGTERM. */
const ends = Number(process.env['CHAOS_ENDS'] ?? 2)
afterEach(endAll)

type World = Awaited<ReturnType<typeof openWorld>>

async function eventually(look: () => boolean | Promise<boolean>, withinMs = 20_000, everyMs = 50): Promise<void> {
  for (const end = systemClock.now() + withinMs; !(await look()); await systemClock.sleep(everyMs))
    if (systemClock.now() > end) throw new Error(`this was not so within ${withinMs} ms: ${String(look)}`)
}

/** Creates tickets of one player each, in batches. */
async function join({ ask }: World, follower: Victim, ids: readonly string[], queue = 'duel'): Promise<void> {
  const ticket = (id: string) => ({ id, queue, players: [{ id: `player of ${id}`, ip: '192.0.2.1' }] })
  for (let from = 0; from < ids.length; from += 500) {
    const created = await ask(follower, 'createTickets', ids.slice(from, from + 500).map(ticket))
    if (created === undefined || created.error !== undefined) throw new Error('tickets were not created')
  }
}

async function readAll({ ask }: World, follower: Victim, ids: readonly string[]): Promise<readonly Ticket[]> {
  const answers = await Promise.all(ids.map((id) => ask<Ticket>(follower, 'getTicket', id)))
  return answers.flatMap((one) => one?.answer ?? [])
}

const assignedTo = (tickets: readonly Ticket[]): ReadonlyMap<string, string | undefined> =>
  new Map(tickets.map(({ id, status, matchId }) => [id, status === 'HOST_ASSIGNED' ? matchId : undefined]))

describe.skipIf(skipsRedis())('the processes of a partition', () => {
  test(`three competing processes change the leader once for ${matches} matches, and soon match again`, async () => {
    const world = await openWorld(seed)
    const { begin, ask, leaders, counts, unhandled } = world
    const bounds = { maxServers: 1e6, maxStarting: 1e6, maxCreatesInFlight: 1e6, readsPerSecond: 1e6 }
    const given = { instant: true, tickBudgetMs: 1000, ...bounds }
    const leader = await begin(given)
    await eventually(() => leaders.has(leader))
    const ids = Array.from({ length: 2 * matches }, (_, nth) => `t${nth}`)
    await join(world, leader, ids)
    const running = async (follower: Victim) => {
      const { answer } = (await ask<Inspection>(follower, 'inspect')) ?? {}
      return answer?.matches.filter(({ phase }) => phase === 'running').length
    }
    await eventually(async () => (await running(leader)) === matches, 60_000, 1000)
    const [follower] = await Promise.all([begin(given), begin(given), begin(given)])
    // In this time, the followers read all tickets.
    await systemClock.sleep(2000)
    const sample = ids.filter((_, nth) => nth % 97 === 0)
    const before = assignedTo(await readAll(world, follower, sample))
    counts.terms = 0
    const killedAt = systemClock.now()
    await leader.kill()
    await join(world, follower, ['new-1', 'new-2'])
    await eventually(async () => (await readAll(world, follower, ['new-1']))[0]?.status === 'HOST_ASSIGNED', 30_000)
    const seconds = (systemClock.now() - killedAt) / 1000
    await systemClock.sleep(2000)
    process.stdout.write(`${JSON.stringify({ matches, seconds, changes: counts.terms })}\n`)
    expect(counts.terms).toBe(1)
    expect(assignedTo(await readAll(world, follower, sample))).toEqual(before)
    expect(await running(follower)).toBe(matches + 1)
    expect(unhandled).toEqual([])
  }, 150_000)

  test('partition processes whose clocks are ten minutes apart expire no ticket early', async () => {
    const world = await openWorld(seed)
    const { begin, leaders, unhandled } = world
    const minutes = [10, 0, -10]
    const members = await Promise.all(minutes.map((ahead) => begin({ aheadMs: ahead * 60_000 })))
    const startedAt = systemClock.now()
    const ids = Array.from({ length: 50 }, (_, nth) => `t${nth}`)
    await eventually(() => leaders.size === 1)
    await join(world, members[0] as Victim, ids, 'lonely')
    while (members.length > 0) {
      await eventually(() => leaders.size === 1)
      await systemClock.sleep(1000)
      const [follower] = members as [Victim]
      const tickets = await readAll(world, follower, ids)
      expect(tickets.map(({ status }) => status)).toEqual(ids.map(() => 'SEARCHING'))
      for (const { createdAt } of tickets) expect(Math.abs(createdAt - startedAt)).toBeLessThan(15_000)
      const leader = members.find((one) => leaders.has(one)) as Victim
      members.splice(members.indexOf(leader), 1)
      leaders.delete(leader)
      await leader.kill()
    }
    expect(unhandled).toEqual([])
  }, 60_000)

  test(
    `every server whose stop was acknowledged is stopped, though ${ends} leaders end during it`,
    async () => {
      const world = await openWorld(seed)
      const { begin, ask, servers, leaders, unhandled } = world
      const random = seededRandom(seed)
      const alive = await Promise.all([begin(), begin(), begin()])
      const acknowledged = new Set<string>()
      const unknown = new Set<string>()
      const others: (string | undefined)[] = []
      const stop = async (follower: Victim, matchId: string): Promise<Answer | undefined> => {
        const answer = await ask(follower, 'stopMatch', matchId, { until: 'recorded' })
        if (answer?.error === 'UnknownMatch') unknown.add(matchId)
        else if (answer !== undefined && answer.error === undefined) acknowledged.add(matchId)
        else if (answer !== undefined) others.push(answer.error)
        return answer
      }
      const all: string[] = []
      for (let round = 0; round < ends; round += 1) {
        await eventually(() => alive.some((one) => leaders.has(one)))
        const ids = Array.from({ length: 20 }, (_, nth) => `t${round}-${nth}`)
        const anyOf = (from: readonly Victim[]) => from[Math.floor(random() * from.length)] as Victim
        await join(world, anyOf(alive), ids)
        const matchIds = new Set<string>()
        await eventually(async () => {
          for (const matchId of assignedTo(await readAll(world, anyOf(alive), ids)).values())
            if (matchId !== undefined) matchIds.add(matchId)
          return matchIds.size === ids.length / 2
        })
        all.push(...matchIds)
        const leader = alive.find((one) => leaders.has(one)) as Victim
        const stopping = Array.from(matchIds, async (matchId) => {
          await systemClock.sleep(random() * 30)
          await stop(anyOf(alive), matchId)
        })
        await systemClock.sleep(5 + random() * 25)
        alive.splice(alive.indexOf(leader), 1)
        leaders.delete(leader)
        if (round % 2 === 0) leader.signal('SIGTERM')
        else await leader.kill()
        await Promise.all([...stopping, begin().then((one) => alive.push(one))])
      }
      const acknowledgedOf = acknowledged.size
      const runningOf = async (matchIds: Iterable<string>) => {
        const { deployments } = await servers()
        const running = deployments.filter(({ current_status }) => current_status !== 'Status.TERMINATED')
        return [...matchIds].filter((matchId) => running.some(({ tags }) => tags.some((tag) => tag.includes(matchId))))
      }
      await eventually(async () => (await runningOf(acknowledged)).length === 0, 30_000)
      expect(await runningOf(unknown)).toEqual([])
      expect(others.filter((error) => error !== 'NoLeader' && error !== 'MatchmakerClosed')).toEqual([])
      // Whoever was not answered asks again.
      for (const matchId of all) if (!acknowledged.has(matchId)) await stop(alive[0] as Victim, matchId)
      await eventually(async () => (await runningOf(all)).length === 0, 30_000)
      process.stdout.write(`${JSON.stringify({ stops: all.length, acknowledged: acknowledgedOf, ends })}\n`)
      expect(acknowledgedOf).toBeGreaterThan(0)
      expect(unhandled).toEqual([])
    },
    60_000 + ends * 20_000,
  )
})
