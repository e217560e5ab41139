/**
 * Tests the program after kill -9 and a cut of its store at any byte: everything in the remaining lines must still
 * hold, and no server may be left.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@muster/core/clock'
import { openStore } from '@muster/matchmaker'
import type { MatchRecord } from '@muster/matchmaker/internal'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll } from './processes.js'
import { endProgram, matchIn, openProgramWorld } from './program-world.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
/** Number of times that the program is killed and its file is cut. `CHAOS_CUTS=50 pnpm chaos` runs more. */
const CUTS = Number(process.env['CHAOS_CUTS'] ?? 3)
const PLAYERS = Array.from({ length: 16 }, (_, nth) => `p${nth}`)
const ADDRESS = '192.0.2.1'
const folder = mkdtempSync(join(tmpdir(), 'muster-chaos-both-'))
afterEach(() => {
  endProgram()
  endAll()
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Inspected {
  readonly match_id: string
  readonly phase: string
  readonly stop_reason: string | null
  readonly player_ids: readonly string[]
}

/** Returns the open matches in the store's file. */
async function openIn(path: string): Promise<readonly MatchRecord[]> {
  const copy = `${path}.copy`
  writeFileSync(copy, readFileSync(path))
  const store = await openStore({ path: copy, fsync: 'never' })
  const matches = store.records('match', () => []).stored()
  await store.close()
  rmSync(copy)
  return matches.map(({ value, change = '{}' }) => ({ ...JSON.parse(value), ...JSON.parse(change) }) as MatchRecord)
}

test(`after kill -9 and a store cut at any byte Muster recovers, ${CUTS} times (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const world = await openProgramWorld(folder, 'both', () => ({
    inspect: true,
    matching: { orphanGraceMs: 1500, listLagMs: 300 },
  }))
  const { ask, begin, end, until, ready, living } = world
  const wrong: string[] = []
  const sum = { known: 0, forgotten: 0, lostBytes: 0 }

  const matches = async () =>
    (JSON.parse((await ask('GET', '/inspect/matches')).text) as { readonly matches: readonly Inspected[] }).matches
  /** Returns the match of each living server. */
  const served = async () =>
    (await living()).map(({ tags }) => matchIn(tags.find((tag) => tag.startsWith('match-')) ?? ''))
  /** Queues all players who neither wait nor play. */
  const joinAll = () =>
    Promise.all(PLAYERS.map((player_id) => ask('POST', '/tickets', { profile: 'duel', player_id, player_ip: ADDRESS })))
  /** Checks that no player is in two matches. */
  const look = async (when: string) => {
    const now = await matches()
    // The players of a match with a stop reason are free, even while Muster still searches for its deployment.
    const all = now.flatMap(({ stop_reason, player_ids }) => (stop_reason === null ? player_ids : []))
    for (const id of new Set(all)) if (all.indexOf(id) !== all.lastIndexOf(id)) wrong.push(`${when}: ${id} plays twice`)
    return now
  }
  /** True if at least half of the players play, each server belongs to a match, and each match has a server. */
  const isSettled = async () => {
    const [now, servers] = [await look('settling'), await served()]
    const known = now.map(({ match_id }) => match_id)
    if (known.length < PLAYERS.length / 4) return false
    return now.every(({ phase }) => phase === 'running') && servers.toSorted().join() === known.toSorted().join()
  }

  begin()
  for (let cut = 0; cut < CUTS; cut += 1) {
    await ready()
    await joinAll()
    // Some lives end when all players play, others before that.
    if (random() < 0.6 || cut < 2) await until(isSettled)
    await sleep(random() * 600)
    // Stop one match. Its players then queue again.
    const over = random() < 0.5 ? (await matches())[0]?.match_id : undefined
    if (over !== undefined) {
      await ask('DELETE', `/matches/${over}`)
      await joinAll()
    }
    await sleep(random() * 200)
    const before = await served()
    await end('SIGKILL')
    const bytes = readFileSync(world.store)
    // The first cut removes little, the second much. After that, 70 % of the cuts remove at most a fifth of the file,
    // and the others any part, even the first line.
    const least = cut === 0 ? 0.98 : cut !== 1 && random() < 0.7 ? 0.8 : 0
    const most = cut === 1 ? 0.3 : 1
    const length = Math.floor(bytes.length * (least + random() * (most - least)))
    sum.lostBytes += bytes.length - length
    writeFileSync(world.store, bytes.subarray(0, length))
    const open = await openIn(world.store)
    // Leave out the stopped match: the cut may have removed the line of its stop, but its server is gone.
    const played = open.filter(
      ({ playingSince, matchId }) => playingSince !== undefined && before.includes(matchId) && matchId !== over,
    )
    sum.known += played.length
    sum.forgotten += before.length - played.length

    begin()
    await ready()
    await joinAll()
    await look(`after cut ${cut}`)
    for (const { matchId, playerIds } of played)
      for (const id of playerIds) {
        const { text } = await ask('GET', `/players/${id}`)
        if (!text.includes(matchId)) wrong.push(`cut ${cut}: ${id} has lost ${matchId}`)
      }
    await until(isSettled)
    const alive = await served()
    for (const { matchId } of played) if (!alive.includes(matchId)) wrong.push(`cut ${cut}: ${matchId} was stopped`)
  }

  await until(async () => {
    for (const { match_id } of await matches()) await ask('DELETE', `/matches/${match_id}`)
    return (await living()).length === 0
  })
  await end('SIGTERM')
  process.stdout.write(`${JSON.stringify(sum)}\n`)
  expect(wrong).toEqual([])
  // A run without both cases would prove nothing.
  expect(sum.known).toBeGreaterThan(0)
  expect(sum.forgotten).toBeGreaterThan(0)
})
