import { createHmac } from 'node:crypto'
import { systemClock } from '@muster/core/clock'
import { type Claims, claimsIn, type CommandAnswer, type SeenServer } from './seen-server.js'
import type { JoinableSeat } from './players.js'
import type { Stage } from './stage.js'
import { until } from './until.js'

/** One line of the result. */
export interface CheckLine {
  readonly outcome: 'ok' | 'FAIL' | 'skip'
  /** The requirement that was checked, e.g. `registers within 30 s`. */
  readonly name: string
  readonly seconds: number
  /** For a failure: the expected behaviour, the observed one, and the section of the documentation to read. */
  readonly expected?: string
  readonly came?: string
  readonly read?: string
  /** Why the check was skipped. */
  readonly why?: string
  /** For a success: what it does not prove. */
  readonly note?: string
}

class Failed extends Error {
  readonly line: Required<Pick<CheckLine, 'expected' | 'came' | 'read'>>

  constructor(expected: string, came: string, read: string) {
    super(expected)
    this.line = { expected, came, read }
  }
}

class Skipped extends Error {}

const REPORT = 'docs/servers.md, What a server reports'
const CONNECTS = 'docs/servers.md, Who connects?'
const VERIFY = 'docs/game-server.md, Verify it'
const END = 'docs/game-server.md, The end'

const BY_LIBRARY = 'answered by the library, not by your game'

const BOOT_MS = 30_000
/** Maximum milliseconds in which the game's clients play a match to its end. */
const PLAY_MS = 60_000
const REPORT_MS = 5000
const MATCH_MS = 10_000
const AWAY_MS = 2000
/** Milliseconds within which every server notices that Muster is reachable again: servers retry after at most 15 s. */
const BACK_MS = 20_000
const GRACE_MS = 30_000
const SEATS_MS = 1500
/** Milliseconds for which a match must continue while its server drains. */
const DRAINING_MS = 1000
const MAY_RETURN_MS = 60_000

/** Checks a server against everything that Muster requires of it. @param tell called with each line of the result */
export async function playThrough(stage: Stage, tell: (line: CheckLine) => void): Promise<void> {
  const check = async <Value>(name: string, act: () => Promise<Value>): Promise<Value | undefined> => {
    const start = systemClock.now()
    const seconds = () => (systemClock.now() - start) / 1000
    const answered = () => stage.servers.reduce((sum, { answersOfLibrary }) => sum + answersOfLibrary, 0)
    const before = answered()
    try {
      const value = await act()
      const note = answered() > before ? { note: BY_LIBRARY } : {}
      tell({ outcome: 'ok', name, seconds: seconds(), ...note })
      return value
    } catch (error) {
      if (error instanceof Failed) tell({ outcome: 'FAIL', name, seconds: seconds(), ...error.line })
      else if (error instanceof Skipped) tell({ outcome: 'skip', name, seconds: seconds(), why: error.message })
      else throw error
      return undefined
    }
  }

  const first = await check('registers within 30 s', () => firstServer(stage))
  if (first === undefined) return
  const seats = await check('says that players may come', () => seatsOf(stage, first, ['ann', 'ben']))
  if (seats === undefined) return
  const isAsking = stage.hasClient || (await check('asks MUSTER_VERIFY_URL what to do', () => asking(first))) === true
  if (isAsking) {
    await tokens(stage, first, seats, check)
    await returning(stage, first, seats, check)
    await ending(stage, first, seats, check)
  }
  // Ends a match that did not end by itself, so that the other checks can run.
  await stage.matchmaker.stopMatch(seats[0].matchId, { until: 'recorded' }).catch(() => {})

  const second = await check('plays another match', () => another(stage, first))
  if (second !== undefined) {
    await check('plays it by the same process', async () => {
      if (second.server === first) return
      if (second.hadEnded) throw new Skipped('the process of the server had ended after its first match')
      throw new Failed(
        'The server takes another match after its first one is over.',
        `Muster started another server. State of the first one: ${stateOf(first)}`,
        REPORT,
      )
    })
    if (isAsking) await leaving(stage, second, check)
    await outage(stage, second, isAsking, check)
    await draining(stage, second, isAsking, check)
  }
  await signalled(stage, check)
  await check('sends no report that Muster refuses', async () => {
    const refused = stage.servers.find(({ refusal }) => refusal !== undefined)
    if (refused?.refusal !== undefined)
      throw new Failed('Muster answers no report of the server with 400 or 413.', refused.refusal, REPORT)
  })
}

type Check = <Value>(name: string, act: () => Promise<Value>) => Promise<Value | undefined>
type Two = readonly [JoinableSeat, JoinableSeat]

interface StartedMatch {
  readonly server: SeenServer
  readonly seats: Two
  readonly players: readonly [string, string]
}

async function firstServer(stage: Stage): Promise<SeenServer> {
  await stage.players.join(['ann', 'ben'])
  if (!(await until(() => stage.servers.length > 0, BOOT_MS)))
    throw new Error(`Muster started no game server within ${BOOT_MS / 1000} s for two queued players.`)
  const server = stage.servers[0] as SeenServer
  await until(() => server.registered !== undefined || server.exitCode !== undefined, BOOT_MS)
  if (server.registered === undefined)
    throw new Failed('The server sends POST /servers to MUSTER_URL.', stateOf(server), REPORT)
  return server
}

/** Describes the state of a server that does not behave as required. */
function stateOf(server: SeenServer): string {
  const { exitCode, refusal } = server
  if (refusal !== undefined) return `Muster refuses its reports (${refusal})`
  if (exitCode !== undefined) return `the process has ended with exit code ${exitCode}\n${server.output()}`.trimEnd()
  return 'the process runs, but sent no such request'
}

const matchState = (server: SeenServer, matchId: string) =>
  server.exitCode === undefined && server.refusal === undefined
    ? `its report has ${JSON.stringify(server.match(matchId) ?? { matches: server.report.matches ?? [] })}`
    : stateOf(server)

/** Waits until both players have seats. @param server the server that is expected to get the match */
async function seatsOf(stage: Stage, server: SeenServer, players: readonly [string, string]): Promise<Two> {
  const hadEnded = server.exitCode !== undefined
  const isVain = () => server.refusal !== undefined || (!hadEnded && server.exitCode !== undefined)
  const one = await stage.players.seatWithin(players[0], BOOT_MS, isVain)
  const other = one && (await stage.players.seatWithin(players[1], REPORT_MS, isVain))
  if (one === undefined || other === undefined) {
    const came = isVain() ? stateOf(server) : `its report has ${JSON.stringify(server.report.matches ?? [])}`
    throw new Failed('The server reports its match with the status "open" within 30 s.', came, REPORT)
  }
  return [one, other]
}

async function asking(server: SeenServer): Promise<true> {
  if (await until(() => server.hasAsked, REPORT_MS)) return true
  throw new Failed('The server sends GET MUSTER_VERIFY_URL within 5 s of its first match.', 'no request', VERIFY)
}

const answerText = (answer: CommandAnswer | undefined) =>
  answer === undefined ? 'no answer within 8 s' : JSON.stringify({ ...answer, id: undefined })

async function admit(
  { results }: Stage,
  server: SeenServer,
  player: string,
  { token, matchId }: JoinableSeat,
  what: string,
): Promise<void> {
  const answer = await server.send({ do: 'admit', token })
  if (answer?.ok === true && (answer.player ?? player) === player) return
  const over = results.has(matchId) ? '; the match was over by then: it must last at least 20 s' : ''
  throw new Failed(
    `The server admits player ${player} with ${what}.`,
    `${answerText(answer)}${over}`,
    over === '' ? CONNECTS : VERIFY,
  )
}

async function saysOf(server: SeenServer, matchId: string, player: string, status: string): Promise<void> {
  if (await until(() => server.match(matchId)?.players?.[player] === status, REPORT_MS)) return
  throw new Failed(
    `The server reports player ${player} as ${JSON.stringify(status)} within 5 s.`,
    matchState(server, matchId),
    REPORT,
  )
}

/**
 * Checks that the server reports a departed player as `left` or `away`. Skipped if the game's own client leaves and the
 * game reports the other state, because the game decides whether that player may return.
 */
async function leftOrAway(
  stage: Stage,
  server: SeenServer,
  matchId: string,
  player: string,
  wanted: 'left' | 'away',
): Promise<void> {
  const other = wanted === 'left' ? 'away' : 'left'
  const status = () => server.match(matchId)?.players?.[player]
  await until(() => status() === wanted || status() === other, REPORT_MS)
  if (stage.hasClient && status() === other)
    throw new Skipped(`the game reports ${other} for a client that disconnects`)
  await saysOf(server, matchId, player, wanted)
}

async function tokens(stage: Stage, server: SeenServer, [ann, ben]: Two, check: Check): Promise<void> {
  const isIn = await check('lets in who has a good token, and reports it', async () => {
    await admit(stage, server, 'ann', ann, 'a good token')
    await saysOf(server, ann.matchId, 'ann', 'in')
    return true
  })
  const wrong = { ...wrongTokens(ben.token, server.registered?.key ?? ''), 'a token that was used': ann.token }
  for (const [what, token] of Object.entries(wrong))
    await check(`refuses ${what}`, async () => {
      const answer = await server.send({ do: 'admit', token })
      if (answer?.ok !== false)
        throw new Failed(`The server answers "ok":false to ${what}.`, answerText(answer), CONNECTS)
      if (isIn === undefined) throw new Skipped('the check with a valid token failed, so this refusal proves nothing')
    })
  await check('lets in the next player after that', async () => {
    await admit(stage, server, 'ben', ben, 'a good token')
    await saysOf(server, ben.matchId, 'ben', 'in')
  })
}

async function returning(stage: Stage, server: SeenServer, [ann]: Two, check: Check): Promise<void> {
  await check('reports a player who may return as away', async () => {
    if (stage.results.has(ann.matchId)) throw new Skipped('the match ended before this check')
    await server.send({ do: 'leave', player: 'ann', mayReturnMs: MAY_RETURN_MS })
    await leftOrAway(stage, server, ann.matchId, 'ann', 'away')
  })
  await check('lets a player return with a fresh token', async () => {
    const fresh = await stage.players.seat('ann')
    if (fresh?.matchId !== ann.matchId) throw new Skipped('the match ended before this check')
    await admit(stage, server, 'ann', fresh, 'a fresh token')
    await saysOf(server, ann.matchId, 'ann', 'in')
  })
}

async function ending(stage: Stage, server: SeenServer, [{ matchId }]: Two, check: Check): Promise<void> {
  const isOver = await check('reports a match that is over, and its players are free', async () => {
    if (!stage.results.has(matchId)) await server.send({ do: 'over', match: matchId })
    const withinMs = stage.hasClient ? PLAY_MS : MATCH_MS
    const isFree = await until(() => stage.results.has(matchId), withinMs)
    if (!isFree)
      throw new Failed(
        `The server reports its match with the status "over" within ${withinMs / 1000} s.`,
        matchState(server, matchId),
        REPORT,
      )
    return true
  })
  if (isOver === undefined) return
  await check('reports a result', async () => {
    if (stage.results.get(matchId) === undefined) throw new Skipped('the server reported no result')
  })
}

async function another(stage: Stage, first: SeenServer): Promise<StartedMatch & { readonly hadEnded: boolean }> {
  const players = ['cas', 'dan'] as const
  await until(() => first.exitCode !== undefined || first.orders.length === 0, REPORT_MS)
  const hadEnded = first.exitCode !== undefined
  await stage.players.join(players)
  const seats = await seatsOf(stage, first, players)
  const server = stage.servers.find((one) => one.match(seats[0].matchId) !== undefined)
  if (server === undefined) throw new Failed('A server reports the second match.', 'no server reports it', REPORT)
  return { server, seats, players, hadEnded }
}

async function leaving(stage: Stage, { server, seats, players }: StartedMatch, check: Check): Promise<void> {
  const [{ matchId }, other] = seats
  await check('frees a player who leaves for good', async () => {
    await admit(stage, server, players[1], other, 'a good token')
    await server.send({ do: 'leave', player: players[1], mayReturnMs: 0 })
    await leftOrAway(stage, server, matchId, players[1], 'left')
  })
  await check('lets in who replaces a player who has left', async () => {
    if (!(await until(() => server.match(matchId)?.seats?.open, SEATS_MS)))
      throw new Skipped('the server never reports open seats')
    await stage.players.join(['eve'])
    const seat = await stage.players.seatWithin('eve', MATCH_MS)
    if (seat?.matchId !== matchId)
      throw new Failed('Muster gives eve an open seat of the match within 10 s.', 'no seat', REPORT)
    await admit(stage, server, 'eve', seat, 'a good token')
  })
}

async function outage(stage: Stage, playing: StartedMatch, isAsking: boolean, check: Check): Promise<void> {
  const { server, seats, players } = playing
  const [first] = seats
  const { matchId } = first
  const comeBack = stage.gateway.cut()
  await check('plays on, and lets players in, while Muster does not answer', async () => {
    await until(() => server.exitCode !== undefined, AWAY_MS)
    if (server.exitCode !== undefined) throw new Failed('The server continues its match.', stateOf(server), REPORT)
    if (isAsking) await admit(stage, server, players[0], first, 'a good token')
  })
  const { registrations } = server
  comeBack()
  await check('registers and reports again after a restart of Muster', async () => {
    if (!(await until(() => server.registrations > registrations, BACK_MS)))
      throw new Failed('The server sends POST /servers again within 20 s of an answer 409.', stateOf(server), REPORT)
    if (!(await until(() => server.match(matchId)?.status === 'open', REPORT_MS)))
      throw new Failed(
        'The server reports its match with the status "open" again.',
        matchState(server, matchId),
        REPORT,
      )
    if (isAsking) await saysOf(server, matchId, players[0], 'in')
  })
}

async function draining(stage: Stage, playing: StartedMatch, isAsking: boolean, check: Check): Promise<void> {
  const { server, seats } = playing
  const [{ matchId }] = seats
  await check('plays its match to the end while it drains', async () => {
    await stage.matchmaker.drainServer(server.registered?.id ?? '')
    if (!(await until(() => server.isToldToDrain, MATCH_MS)))
      throw new Failed('The server sends a report, whose answer requires it to drain.', stateOf(server), REPORT)
    await until(() => server.exitCode !== undefined, DRAINING_MS)
    if (server.match(matchId)?.status !== 'open' || server.exitCode !== undefined)
      throw new Failed('The server continues its match while it drains.', matchState(server, matchId), REPORT)
  })
  await check('ends by itself once it is drained', async () => {
    if (isAsking) await server.send({ do: 'over', match: matchId })
    if (!(await until(() => stage.results.has(matchId), isAsking ? REPORT_MS : 0)))
      await stage.matchmaker.stopMatch(matchId, { until: 'recorded' })
    await until(() => server.exitCode !== undefined, MATCH_MS)
    if (server.exitCode !== 0)
      throw new Failed(
        'The server exits with code 0 within 10 s of an answer with "want":"stop" or the status 410.',
        server.exitCode === undefined ? 'the process still runs' : stateOf(server),
        REPORT,
      )
  })
}

async function signalled(stage: Stage, check: Check): Promise<void> {
  const count = stage.servers.length
  const players = ['fay', 'gus'] as const
  await stage.players.join(players)
  await until(() => stage.servers.length > count, MATCH_MS)
  // If draining could not be tested, the earlier process still runs and gets this match.
  const server = stage.servers[count] ?? stage.servers.findLast(({ exitCode }) => exitCode === undefined)
  if (server === undefined) return
  await check('plays a third match', () => seatsOf(stage, server, players))
  await check('ends within 30 s of SIGTERM', async () => {
    server.stop(GRACE_MS)
    await until(() => server.exitCode !== undefined, GRACE_MS)
    // Exit code 137 means that SIGKILL ended the process.
    if (server.exitCode === undefined || server.exitCode === 137)
      throw new Failed('The process ends within 30 s of SIGTERM.', 'the process had to be killed', END)
  })
  await check('says after SIGTERM that it takes no match any more', async () => {
    if (server.report.draining !== true) throw new Skipped('the server sent no report with "draining":true')
  })
}

/** Derives invalid tokens from a valid one. The server must refuse each of them. Each has exactly one fault. */
function wrongTokens(good: string, key: string): Readonly<Record<string, string>> {
  const claims = claimsIn(good)
  const hour = 3600
  return {
    'a token that is signed by another key': signed(claims, Buffer.alloc(32, 7)),
    'a token without a signature': `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
    'an expired token': signed(
      { ...claims, iat: Number(claims['iat']) - hour, exp: Number(claims['exp']) - hour },
      Buffer.from(key, 'base64url'),
    ),
    'a token of another server': signed({ ...claims, aud: 'another' }, Buffer.from(key, 'base64url')),
    'a token of another match': signed({ ...claims, mid: 'another' }, Buffer.from(key, 'base64url')),
  }
}

function signed(claims: Claims, key: Uint8Array): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
