/**
 * Tests the program with a data directory that is killed or ended while commands are running: no answer may prove
 * false, and no server may be left.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@muster/core/clock'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll } from './processes.js'
import { endProgram, matchIn, openProgramWorld, type Answer, type ProgramWorld } from './program-world.js'

const random = seededRandom(Number(process.env['CHAOS_SEED'] ?? 1))
/** Number of times that each test restarts the program. `CHAOS_LIVES=100 pnpm chaos` runs more. */
const LIVES = Number(process.env['CHAOS_LIVES'] ?? 3)
/** Minimum number of commands that must be answered in each life of the program. */
const ANSWERED = 20
/** Number of matches that are never stopped, so that commands about them can be sent after each restart. */
const KEPT = 2
const folder = mkdtempSync(join(tmpdir(), 'muster-chaos-restarts-'))
afterEach(() => {
  endProgram()
  endAll()
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Playing {
  readonly matchId: string
  readonly players: readonly string[]
}

let count = 0
/** Lets two players find a match. Resolves with undefined if the program ended before that. */
async function play({ ask }: ProgramWorld): Promise<Playing | undefined> {
  count += 1
  const players = [`a${count}`, `b${count}`]
  const player_tickets = players.map((id) => ({ profile: 'duel', player_id: id, player_ip: '192.0.2.1' }))
  if ((await ask('POST', '/group-tickets', { player_tickets })).status !== 201) return undefined
  for (let tries = 0; tries < 40; tries += 1) {
    const { status, text } = await ask('GET', `/players/${players[0]}`)
    if (status === 0) return undefined
    const match = /"match_id":"([^"]+)"/.exec(text)?.[1]
    if (match !== undefined && text.includes('"HOST_ASSIGNED"')) return { matchId: match, players }
    await sleep(100)
  }
  return undefined
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'no acknowledged command is lost by %s while commands are in flight',
  async (signal) => {
    const world = await openProgramWorld(folder, signal)
    const { ask, begin, end, until, ready, living } = world
    const wrong: string[] = []
    const playing = new Map<string, Playing>()
    /** Ids of the matches whose stop was acknowledged. */
    const stopped = new Set<string>()
    const sum = { lives: 0, asked: 0, unavailable: 0, stopped: 0 }
    const note = (what: string, { status, text }: Answer, isTrue: boolean) => {
      sum.asked += 1
      if (status === 0 || status === 503) sum.unavailable += 1
      else if (!isTrue) wrong.push(`${what}: ${status} ${text.slice(0, 200)}`)
    }
    /** Sends commands about running matches, and stops some of them. */
    const question = async ({ matchId, players }: Playing) => {
      const [player = ''] = players
      const found = await ask('GET', `/players/${player}`)
      if (playing.has(matchId)) note('a player who plays', found, found.text.includes(matchId))
      const ticket = { profile: 'duel', player_id: player, player_ip: '192.0.2.1' }
      const created = await ask('POST', '/tickets', ticket)
      if (playing.has(matchId)) note('a second ticket', created, created.status === 409)
      if (random() > 0.2 || playing.size <= KEPT || !playing.has(matchId)) return
      playing.delete(matchId)
      const answer = await ask('DELETE', `/matches/${matchId}`)
      note('a stop', answer, answer.status === 202)
      if (answer.status === 202) stopped.add(matchId)
    }

    for (let life = 0; life < LIVES; life += 1) {
      sum.lives += 1
      begin()
      let isOver = false
      const asking = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const all = [...playing.values()]
          const one = all[Math.floor(random() * all.length)]
          if (one !== undefined) await question(one)
          await sleep(5)
        }
      })
      await ready()
      for (const one of await Promise.all(Array.from({ length: 10 }, () => play(world))))
        if (one !== undefined) playing.set(one.matchId, one)
      await sleep(random() * 300)
      // A busy machine answers fewer commands in that time.
      const enough = (life + 1) * (ANSWERED + 1)
      await until(() => Promise.resolve(sum.asked - sum.unavailable >= enough || playing.size === 0))
      await end(signal)
      isOver = true
      await Promise.all(asking)
    }

    begin()
    await ready()
    const tagsOf = async () => (await living()).flatMap(({ tags }) => tags)
    // A later process must carry out each acknowledged stop.
    await until(async () => !(await tagsOf()).some((tag) => stopped.has(matchIn(tag))))
    for (const { matchId } of playing.values()) await ask('DELETE', `/matches/${matchId}`)
    const inspected = async () => (await tagsOf()).filter((tag) => tag.startsWith('match-'))
    for (const tag of await inspected()) await ask('DELETE', `/matches/${tag.slice('match-'.length)}`)
    await until(async () => {
      for (const tag of await inspected()) await ask('DELETE', `/matches/${tag.slice('match-'.length)}`)
      return (await living()).length === 0
    })
    await end('SIGTERM')
    sum.stopped = stopped.size
    expect(wrong).toEqual([])
    expect(sum.asked - sum.unavailable).toBeGreaterThan(ANSWERED * LIVES)
    expect(sum.unavailable).toBeGreaterThan(0)
    expect(sum.stopped).toBeGreaterThan(0)
  },
)

test('with a store of a newer version Muster answers no request, and starts once the store is readable', async () => {
  const world = await openProgramWorld(folder, 'newer')
  const { ask, begin, end, ended, until, ready, living, store } = world
  begin()
  await ready()
  const played = (await Promise.all(Array.from({ length: 5 }, () => play(world)))).filter((one) => one !== undefined)
  expect(played.length).toBeGreaterThan(0)
  await end('SIGKILL')
  const stored = readFileSync(store)
  const newer = '00000000 {"store":"muster","version":99}\n'
  writeFileSync(store, newer)
  const before = (await living()).length
  for (let times = 0; times < 2; times += 1) {
    begin()
    const answers = new Set<number>()
    const asking = (async () => {
      for (let nth = 0; nth < 40; nth += 1) {
        answers.add((await ask('GET', `/players/${played[0]?.players[0]}`)).status)
        await sleep(25)
      }
    })()
    expect(await ended()).toBe(1)
    await asking
    // Only 0 (no listener) and 503 (store not read yet) are expected.
    expect([...answers].filter((status) => status !== 0 && status !== 503)).toEqual([])
    expect(readFileSync(store, 'utf8')).toBe(newer)
  }
  expect(await living()).toHaveLength(before)
  writeFileSync(store, stored)
  begin()
  await ready()
  const ticketOf = (id = '') => ({ profile: 'duel', player_id: id, player_ip: '192.0.2.1' })
  for (const { matchId, players } of played) {
    expect((await ask('GET', `/players/${players[0]}`)).text).toContain(matchId)
    expect((await ask('POST', '/tickets', ticketOf(players[0]))).status).toBe(409)
    expect((await ask('DELETE', `/matches/${matchId}`)).status).toBe(202)
  }
  await until(async () => (await living()).length === 0)
  await end('SIGTERM')
})
