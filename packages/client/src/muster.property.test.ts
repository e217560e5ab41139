import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Fate, openApi } from './api.fixture.js'
import type { Muster } from './muster.js'
import type { Search } from './search.js'

/** A command of a player. Seconds pass between two commands. */
type Act =
  | { readonly act: 'play'; readonly queue: 'duel' | 'ranked' }
  | { readonly act: 'cancel' | 'accept' | 'decline' | 'resume' | 'reload' | 'group' | 'join' | 'ready' }
  | { readonly act: 'wait'; readonly seconds: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('play' as const), queue: fc.constantFrom('duel', 'ranked') }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Act>(
      ...(['cancel', 'accept', 'decline', 'resume', 'reload', 'group', 'join', 'ready'] as const).map((one) => ({
        act: one,
      })),
    ),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
)

const PLAYERS = ['ann', 'ben', 'cat'] as const
const FATES: readonly Fate[] = ['lost', 'answer lost', 'proxy page', 'late', 'twice']

/**
 * Returns the states in which the player is by `GET /me`. There may be two, because a group may gather during a match.
 */
async function truthOf(api: ReturnType<typeof openApi>, player: string): Promise<readonly string[]> {
  const request = new Request('http://play.example/me', { headers: { authorization: `Bearer ${player}` } })
  const me = (await (await api.api(request, { remoteAddress: '192.0.2.7' })).json()) as {
    readonly tickets: readonly { readonly id: string; readonly status: string; readonly ended?: object }[]
    readonly groups: readonly { readonly group_id: string; readonly status: string }[]
    readonly matches: readonly { readonly match_id: string; readonly assignment: object | null }[]
  }
  const is = [
    ...me.matches.flatMap(({ match_id, assignment }) => (assignment === null ? [] : [`assigned ${match_id}`])),
    ...me.tickets.flatMap(({ id, status, ended }) => {
      if (ended !== undefined || status === 'HOST_ASSIGNED') return []
      return [`${status === 'SEARCHING' ? 'searching' : 'found'} ${id}`]
    }),
    ...me.groups.flatMap(({ group_id, status }) => (status === 'FORMING' ? [`gathering ${group_id}`] : [])),
  ]
  return is.length === 0 ? ['nothing'] : is
}

function shownBy({ state }: Muster): string {
  switch (state.phase) {
    case 'assigned':
      return `assigned ${state.matchId}`
    case 'searching':
    case 'found':
      return `${state.phase} ${state.ticket.id}`
    case 'gathering':
      return `gathering ${state.group.id}`
    default:
      return 'nothing'
  }
}

/**
 * Runs the acts over a connection on which a share of the requests has a random fate. Compares the states once the
 * connection is good again.
 */
async function play(seed: number, acts: readonly (Act & { readonly by: number })[], badShare: number): Promise<void> {
  const api = openApi()
  const random = seededRandom(seed)
  let isGood = false
  const fate = (): Fate =>
    isGood || random() >= badShare ? 'arrives' : (FATES[Math.floor(random() * FATES.length)] as Fate)
  const clients = PLAYERS.map((player) => api.connect(player, fate))
  const searches: (Search | undefined)[] = PLAYERS.map(() => undefined)
  const quiet = (promise: Promise<unknown>) => void promise.catch(() => {})
  let group: string | undefined
  for (const one of acts) {
    const nth = one.by % PLAYERS.length
    const client = clients[nth] as Muster
    if (client.state.phase === 'gathering') group = client.state.group.id
    if (one.act === 'play') searches[nth] = client.play({ profile: one.queue })
    else if (one.act === 'wait') await api.run(one.seconds)
    else if (one.act === 'resume') quiet(client.resume())
    else if (one.act === 'group') quiet(client.groups.create({ profile: 'duel' }))
    else if (one.act === 'join') quiet(client.groups.join(group ?? 'none', { profile: 'duel' }))
    else if (one.act === 'ready') quiet(client.groups.ready())
    else if (one.act === 'reload') {
      client.close()
      // If a create arrives after the reloaded page has read the state, only the next `play` shows its ticket.
      await api.run(4)
      clients[nth] = api.connect(PLAYERS[nth] as string, fate)
      quiet((clients[nth] as Muster).resume())
    } else quiet(searches[nth]?.[one.act]() ?? Promise.resolve())
    await api.clock.advance(0)
  }
  isGood = true
  // The sum of the longest retry delay, a request timeout, the time to accept a match, and the start of a server.
  await api.run(70)
  for (const [nth, player] of PLAYERS.entries()) {
    const client = clients[nth] as Muster
    const truth = await truthOf(api, player)
    expect(client.state).not.toHaveProperty('stale')
    // A group may gather during a match or a search. A player who has left one of the two sees that it ended, and not
    // the other.
    const mayBeNothing = client.state.phase === 'ended' && /^(assigned|gathering)/.test(truth[0] ?? '')
    expect(mayBeNothing ? ['nothing'] : truth).toContain(shownBy(client))
    client.close()
  }
  await api.close()
}

test(
  'after any faults, each client shows the state that Muster has of its player (property)',
  { timeout: 900_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.array(
          fc.tuple(act, fc.nat(2)).map(([one, by]) => ({ ...one, by })),
          { maxLength: 25 },
        ),
        fc.constantFrom(0, 0.2, 0.5),
        play,
      ),
      { numRuns: Number(process.env['CLIENT_RUNS'] ?? 25) },
    )
  },
)
