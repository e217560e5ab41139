/**
 * Tests the program with a pool whose game servers are real processes: they are killed, suspended or started twice
 * while people play.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@muster/core/clock'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { type GameProcess, openWitness } from './game-witness.js'
import { endAll } from './processes.js'
import { endProgram, openProgramWorld, playerToken, type ProgramWorld } from './program-world.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
/** Duration of the faults in seconds. `CHAOS_SECONDS=600 pnpm chaos` runs longer. */
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 60)
/** Milliseconds within which a player who was disconnected may return. */
const AWAY_MS = 3000
/** Minimum number of times that each event must have happened. */
const LEAST = 3
const PLAYERS = Array.from({ length: 10 }, (_, nth) => `p${nth}`)
const VISITORS = Array.from({ length: 6 }, (_, nth) => `v${nth}`)
const folder = mkdtempSync(join(tmpdir(), 'muster-chaos-games-'))
afterEach(() => {
  endProgram()
  endAll()
})
afterAll(() => rmSync(folder, { recursive: true }))

type Witness = Awaited<ReturnType<typeof openWitness>>

interface Me {
  readonly tickets: readonly { readonly status: string; readonly ended?: object }[]
  readonly matches: readonly { readonly match_id: string; readonly assignment?: { readonly join_token?: string } }[]
  readonly seats: readonly { readonly assignment: { readonly join_token?: string } | null }[]
}
interface Inspected {
  readonly match_id: string
  readonly tag: string
}
interface Listed {
  readonly server_id: string
  readonly seats: Readonly<Record<'total' | 'free' | 'held' | 'taken' | 'away', number>>
}
interface Token {
  readonly join: string
  readonly match: string
  readonly server: string
}

const sections = (isOver: boolean) => (own: { readonly url: string; readonly port: number }) => ({
  listen: { port: own.port, publicUrl: own.url },
  inspect: true,
  matching: { orphanGraceMs: 1500, listLagMs: 300 },
  queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
  pools: [
    {
      name: 'arena',
      deploy: { application: 'game', version: '1' },
      places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
      reuse: { maxMatches: 5 },
      keepIdleSeconds: 2,
      ...(!isOver && { at: [{ cron: '* * * * *', minutes: 2, min: 2 }] }),
    },
    {
      name: 'world',
      deploy: { application: 'game', version: '1', environment: { SEATS: '3' } },
      places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
      keepIdleSeconds: 2,
      custom: { emptySeconds: 10 },
    },
  ],
})

/** Returns the id of the server in a join token. */
const serverOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly aud: string }).aud

/** Simulates players who queue, play, leave, disconnect and return, until `isOver`. */
function play({ ask }: ProgramWorld, witness: Witness, random: () => number, isOver: () => boolean) {
  const tokens: Token[] = []
  const sum = { returned: 0 }
  const one = async (player: string) => {
    const bearer = playerToken(player)
    let at: { readonly process: GameProcess; readonly match: string } | undefined
    let isAway = false
    while (!isOver()) {
      await sleep(150 + random() * 250)
      const { status, text } = await ask('GET', '/me', undefined, bearer)
      if (status !== 200) continue
      const { tickets, matches } = JSON.parse(text) as Me
      const [match] = matches
      const token = match?.assignment?.join_token
      if (match === undefined) {
        at = undefined
        if (!tickets.some((ticket) => ticket.ended === undefined && ticket.status !== 'CANCELLED'))
          await ask('POST', '/tickets', { profile: 'duel' }, bearer)
      } else if (at !== undefined && at.match === match.match_id && witness.living.has(at.process) && !isAway) {
        if (random() < 0.02) at.process.leave(player, 0)
        else if (random() < 0.05) {
          at.process.leave(player, AWAY_MS)
          isAway = true
        }
      } else if (token !== undefined) {
        const id = serverOf(token)
        tokens.push({ join: token, match: match.match_id, server: id })
        const there = [...witness.living].filter(({ server }) => server === id)
        const process = there[Math.floor(random() * there.length)]
        const joined = await process?.join(token)
        if (process === undefined || joined === undefined) continue
        if (isAway && at?.match === joined) sum.returned += 1
        at = { process, match: joined }
        isAway = false
      }
    }
  }
  return { tokens, sum, done: Promise.all(PLAYERS.map(one)) }
}

/** Simulates players who take a seat on a server, or start one if there is none, stay for some time and leave. */
function visit({ ask }: ProgramWorld, { living }: Witness, random: () => number, isOver: () => boolean) {
  const tokens: Token[] = []
  const sum = { visits: 0 }
  const one = async (player: string) => {
    const bearer = playerToken(player)
    let at: GameProcess | undefined
    while (!isOver()) {
      await sleep(150 + random() * 250)
      if (at !== undefined && living.has(at)) {
        if (random() > 0.05) continue
        at.leave(player, 0)
        at = undefined
      }
      const { status, text } = await ask('GET', '/me', undefined, bearer)
      if (status !== 200) continue
      const [seat] = (JSON.parse(text) as Me).seats
      const token = seat?.assignment?.join_token
      // A player who is on a server does not request another one. After a restart, Muster learns of such players by the
      // server's next report.
      if (seat === undefined) await ask('POST', '/seats', { start: true }, bearer)
      else if (token !== undefined) {
        const id = serverOf(token)
        const there = [...living].find(({ server }) => server === id)
        const session = await there?.join(token)
        if (session === undefined) continue
        tokens.push({ join: token, match: session, server: id })
        at = there
        sum.visits += 1
      }
    }
  }
  return { tokens, sum, done: Promise.all(VISITORS.map(one)) }
}

test(
  `killed, silent and doubled game servers, and kills of Muster, cause no wrong outcome (seed ${seed})`,
  async () => {
    const random = seededRandom(seed)
    const witness = await openWitness()
    onTestFinished(witness.close)
    const { wrong, living } = witness
    const world = await openProgramWorld(folder, 'games', sections(false), { witness: witness.port, seed })
    const sum = { lives: 1, killed: 0, silent: 0, doubled: 0, tried: 0 }
    let isOver = false
    const begunAt = Date.now()
    const pick = <T>(all: Iterable<T>): T | undefined => {
      const list = [...all]
      return list[Math.floor(random() * list.length)]
    }
    const signal = (one: GameProcess | undefined, name: NodeJS.Signals): boolean => {
      if (one === undefined || !living.has(one)) return false
      process.kill(one.pid, name)
      return true
    }

    world.begin()
    await world.ready()
    const players = play(world, witness, random, () => isOver)
    const visitors = visit(world, witness, random, () => isOver)
    const counts = () => ({ ...sum, ...witness.sum, ...players.sum, ...visitors.sum })
    /**
     * True while faults continue: for `SECONDS`, and on a busy machine up to three times as long, until each kind of
     * event has happened.
     */
    const isOn = () => {
      const seconds = (Date.now() - begunAt) / 1000
      return seconds < SECONDS || (seconds < 3 * SECONDS && Object.values(counts()).some((count) => count < LEAST))
    }
    /** Checks that a join token is accepted only by its own server and for its own match. */
    const tryTokens = async () => {
      while (!isOver) {
        await sleep(100)
        const token = pick([...players.tokens, ...visitors.tokens])
        const process = pick(living)
        if (token === undefined || process === undefined) continue
        const isElsewhere = process.server !== token.server
        if (!isElsewhere && !witness.isOver(token.match, process)) continue
        sum.tried += 1
        const match = await process.join(token.join)
        if (match !== undefined) wrong.push(`a token of ${token.match} on ${token.server} is good on ${process.server}`)
      }
    }
    /** Suspends one server after another, the first one for long enough to count as lost. */
    const silence = async (firstMs: number) => {
      for (let nth = 0; isOn(); nth += 1) {
        await sleep(random() * 3000)
        const one = pick(living)
        if (!signal(one, 'SIGSTOP')) continue
        sum.silent += 1
        await sleep(nth === 0 ? firstMs : 500 + random() * 7000)
        signal(one, 'SIGCONT')
      }
    }
    const hurt = async () => {
      while (isOn()) {
        await sleep(500 + random() * 4000)
        const one = pick(living)
        if (random() < 0.6) sum.killed += Number(signal(one, 'SIGKILL'))
        else if (one !== undefined && signal(one, 'SIGUSR2')) {
          witness.doubled.add(one.requestId)
          sum.doubled += 1
        }
      }
    }
    const restart = async () => {
      while (isOn()) {
        // Some lives of the program end before it answers requests.
        if (random() < 0.8) await world.ready()
        await sleep(random() * 7000)
        await world.end('SIGKILL')
        if (random() < 0.3) await sleep(random() * 4000)
        world.begin()
        sum.lives += 1
      }
    }
    const trying = tryTokens()
    await Promise.all([restart(), hurt(), silence(30_000), silence(1000)])
    // On a slow machine, fewer players disconnect and return in that time.
    await world.until(async () => players.sum.returned >= LEAST, 60_000)
    isOver = true
    await Promise.all([players.done, visitors.done, trying])

    // From now on no player joins. Muster must find lost servers, end their matches and stop them, so that no server is
    // left.
    const matches = async () =>
      (JSON.parse((await world.ask('GET', '/inspect/matches')).text) as { readonly matches: readonly Inspected[] })
        .matches
    await world.ready()
    await world.until(async () => {
      const [servers, known] = [await world.living(), await matches()]
      const own = new Set(known.map(({ tag }) => tag))
      return servers.every(({ tags }) => tags.some((tag) => own.has(tag)))
    })
    // Each occupied seat must belong to a player who is on the server.
    await world.until(async () => {
      const { status, text } = await world.ask('GET', '/servers')
      // A restarted program does not know the listings until the servers have registered again.
      if (status === 503) return false
      const { servers } = JSON.parse(text) as { readonly servers: Listed[] }
      return servers.every(({ server_id, seats: { total, free, held, taken, away } }) => {
        const there = [...living].filter(({ server }) => server.startsWith(server_id))
        const isCounted = there.length !== 1 || there.some((one) => witness.presentOn(one) === taken)
        return isCounted && free + held + taken + away === total
      })
    }, 60_000)
    witness.sendHome()
    await world.end('SIGTERM')
    world.configure(sections(true))
    world.begin()
    await world.ready()
    await world.until(async () => (await world.living()).length === 0 && living.size === 0, 120_000)
    expect(await matches()).toEqual([])
    await world.end('SIGTERM')
    process.stdout.write(`${JSON.stringify(counts())}\n`)
    expect(wrong).toEqual([])
    // A run without each of these events would prove nothing.
    for (const [what, count] of Object.entries(counts())) expect(count, what).toBeGreaterThanOrEqual(LEAST)
  },
  240_000 + SECONDS * 3000,
)
