import { createClient, inProcess, type Client } from '@muster/core'
import { createManualClock, seededRandom, type Clock } from '@muster/core/clock'
import { createEmulator, type Fault } from '@muster/emulator'
import { createLobbies, createRelaySessions, type Lobbies } from '@muster/relay'
import { atLeast, atMost, type Figures } from '../figure.js'

const LOBBIES = 1000
/** Share of the service's responses that are lost, before or after the request took effect. */
const LOST = 0.01
const CREATED_EVERY_MS = 25
/** Milliseconds of virtual time at the end, within which every doubtful request is resolved: five minutes. */
const AFTERWARDS_MS = 300_000

const operations = [
  'relays.create',
  'relays.get',
  'relays.list',
  'relays.delete',
  'relays.authorizeUser',
  'relays.revokeUser',
] as const

const lostAnswers: readonly Fault[] = operations.flatMap((operation): Fault[] => [
  { operation, probability: LOST / 2, drop: 'before' },
  { operation, probability: LOST / 2, drop: 'after' },
])

/**
 * Runs the service in this process, at its documented limits and durations, in virtual time. Lobbies are started, a
 * player of each leaves and another comes, while responses get lost.
 */
export async function lostAnswerFigures(): Promise<Figures> {
  const clock = createManualClock()
  const random = seededRandom(1)
  const randomInt = (max: number) => Math.floor(random() * max)
  const emulator = createEmulator({
    clock,
    random: seededRandom(2),
    faults: lostAnswers,
    fetch: (url, init) => sessions.webhook(new Request(url, init)),
  })
  const dispatcher = inProcess((request) => emulator.fetch(request))
  const client = createClient({ baseUrl: 'http://emulator.invalid', token: 'dev', clock, random, dispatcher })
  const webhookBaseUrl = 'http://127.0.0.1/relay-hooks'
  const sessions = createRelaySessions({ client: client.relays, clock, randomInt, webhookBaseUrl })
  // With these rules, no member counts as away, because none of them sends heartbeats.
  const lobbies = createLobbies({ relay: sessions, clock, randomInt, rules: { awayAfterMs: 2 * AFTERWARDS_MS } })

  const startedAt = performance.now()
  const played = await clock.until(
    Promise.all(Array.from({ length: LOBBIES }, (_, number) => play(lobbies, clock, number))),
  )
  const { requests, dropped } = structuredClone(emulator.counters)
  await clock.advance(AFTERWARDS_MS)
  const nobodys = emulator.inspect().relaySessions.length - LOBBIES
  emulator.faults.clear()
  const wrong = await clock.until(Promise.all(played.map((lobby) => wrongTokens(lobbies, client, lobby))))
  for (const fault of lostAnswers) emulator.faults.add(fault)
  await clock.until(lobbies.close({ timeoutMs: AFTERWARDS_MS }))
  await clock.until(sessions.close({ timeoutMs: AFTERWARDS_MS }))
  const left = emulator.inspect().relaySessions.length
  await client.close()
  await emulator.close()

  const started = wrong.filter((count) => count !== undefined)
  const where = `${LOBBIES.toLocaleString('en-US')} lobbies, 1 % of answers lost`
  return {
    figures: [
      atLeast(`lobbies: started of ${where}`, started.length, LOBBIES, 'lobbies'),
      atMost(`lobbies: sessions leaked by ${where}`, Math.abs(nobodys) + left, 0, 'sessions'),
      atMost(
        `lobbies: wrong tokens in ${where}`,
        started.reduce((sum, count) => sum + count, 0),
        0,
        'tokens',
      ),
    ],
    peers: {
      'lobbies: requests, and answers lost': { ...requests, lost: dropped },
      'lobbies: seconds that took': Number(((performance.now() - startedAt) / 1000).toFixed(1)),
    },
  }
}

interface Played {
  readonly lobbyId: string
  readonly inside: readonly { readonly id: string; readonly ip: string }[]
}

/**
 * Plays a lobby with four players, two of whom share an address. After the start one of these two leaves, and another
 * player comes.
 */
async function play(lobbies: Lobbies, clock: Clock, number: number): Promise<Played> {
  await clock.sleep(number * CREATED_EVERY_MS)
  const player = (name: string, last: number) => ({
    id: `${name}-${number}`,
    ip: `203.0.${113 + (number % 3)}.${last}`,
  })
  const [host, friend, twin] = [player('a', 1), player('b', 2), player('c', 3)] as const
  const [leaver, late] = [player('d', 3), player('e', 3)] as const
  const { lobbyId, code } = await lobbies.create({
    player: host,
    maxPlayers: 4,
    visibility: 'private',
    requireReady: false,
  })
  for (const one of [friend, twin, leaver]) await lobbies.join({ player: one, code })
  await lobbies.start({ lobbyId, playerId: host.id })
  await untilSeated(lobbies, clock, lobbyId, leaver.id)
  await lobbies.leave({ lobbyId, playerId: leaver.id })
  await lobbies.join({ player: late, code })
  await untilSeated(lobbies, clock, lobbyId, late.id)
  const inside = [host, friend, twin, late]
  return { lobbyId, inside }
}

const credentialsOf = async (lobbies: Lobbies, lobbyId: string, playerId: string) => {
  const { run } = await lobbies.get({ lobbyId, playerId })
  return run?.status === 'relayed' ? (run.credentials ?? undefined) : undefined
}

/** Resolves once the player has credentials. */
async function untilSeated(lobbies: Lobbies, clock: Clock, lobbyId: string, playerId: string): Promise<void> {
  while ((await credentialsOf(lobbies, lobbyId, playerId)) === undefined) await clock.sleep(1000)
}

/**
 * Returns the number of wrong tokens; undefined for a lobby that is not running. Tokens of a lobby's players must be
 * those that the service knows for them, and the service must know no others.
 */
async function wrongTokens(lobbies: Lobbies, client: Client, { lobbyId, inside }: Played): Promise<number | undefined> {
  const all = await Promise.all(
    inside.map(async ({ id, ip }) => ({ ip, given: await credentialsOf(lobbies, lobbyId, id) })),
  )
  const sessionId = all[0]?.given?.sessionId
  if (sessionId === undefined || all.some(({ given }) => given === undefined)) return undefined
  const session = await client.relays.get({ session_id: sessionId })
  const known = (session.session_users ?? []).map((user) =>
    [sessionId, session.authorization_token, user.ip_address, user.authorization_token].join(' '),
  )
  const given = all.map(({ ip, given: own }) => [own?.sessionId, own?.sessionToken, ip, own?.userToken].join(' '))
  const twice = given.length - new Set(given).size
  return twice + given.filter((one) => !known.includes(one)).length + known.filter((one) => !given.includes(one)).length
}
