/** Tests that the promise of each answer to a follower's command outlives the leader, whenever the leader ends. */
import type { Partition } from './partition.js'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ServerGone, ServerNotRegistered, UnknownSeat } from '@muster/matchmaker'
import { EnrolmentBody, LEADER_COMMANDS, RegistrationBody, ReportBody } from '@muster/matchmaker/internal'
import type { RpcCommand } from './rpc.js'
import { createWorld, duel, type Process } from './world.fixture.js'

type RpcServer = <T>(asked: Promise<T>) => Promise<T>
interface Scene {
  readonly matchId: string
  readonly service: ReturnType<typeof createWorld>['service']
  readonly answer: RpcServer
}
interface Scenario {
  /** True if the queue asks for acceptance. Default: a running match of two with room for a third player. */
  readonly asks?: boolean
  readonly before?: (follower: Partition, scene: Scene) => Promise<unknown>
  readonly ask: (follower: Partition, scene: Scene) => Promise<unknown>
  /** The expected answer. */
  readonly answers?: object
  /** Checks the effect under the next leader. */
  readonly holds: (follower: Partition, scene: Scene) => Promise<void>
}

const isStopped = async (_: Partition, { service }: Scene) => expect(service.running()).toEqual([])
const poolPaused = async (follower: Partition, { answer }: Scene) => (await answer(follower.inspect())).pools[0]?.paused
const paused = async (follower: Partition, { answer }: Scene) => (await answer(follower.inspect())).queues[0]?.paused

/** Returns the token of the match's server. */
const tokenIn = ({ service }: Scene): string => {
  return service.servers[0]?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
}

const registration = RegistrationBody.parse({ instance: 'one' })
const ENROL_KEY = 'a-key-of-the-arena-in-oslo-0123456'
const enrolment = EnrolmentBody.parse({ instance: 'one', name: 'oslo-1', address: {} })

/** Reports that the match is over. If the next leader does not know the server, the server registers again. */
async function reportOver(follower: Partition, scene: Scene): Promise<void> {
  const matches = [{ id: scene.matchId, status: 'over' }]
  try {
    await follower.reportServer(tokenIn(scene), ReportBody.parse({ instance: 'one', seq: 1, matches }))
  } catch (error) {
    if (error instanceof ServerGone) return
    if (!(error instanceof ServerNotRegistered)) throw error
    await follower.registerServer(tokenIn(scene), registration)
    await reportOver(follower, scene)
  }
}

/** The backend's response to a result. */
let taken = 400
beforeEach(() => {
  taken = 400
  vi.stubGlobal('fetch', async () => new Response(null, { status: taken }))
})
afterEach(() => void vi.unstubAllGlobals())
const results = {
  url: 'https://game.example.com/results',
  secret: `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`,
}
/** The backend refuses the result of the match, and is unavailable from then on. */
async function refused(follower: Partition, { matchId }: Scene): Promise<void> {
  await follower.stopMatch(matchId, { until: 'recorded' })
  while ((await follower.resultsSetAside()).length === 0) await new Promise((resolve) => setImmediate(resolve))
  taken = 503
}
const resultsOf = async (follower: Partition, { answer }: Scene) => ({
  aside: (await answer(follower.resultsSetAside())).length,
  pending: (await answer(follower.inspect())).resultsPending,
})

const KEPT: Readonly<Record<string, Scenario>> = {
  repeatResult: {
    before: refused,
    ask: (follower, { matchId }) => follower.repeatResult(matchId),
    holds: async (follower, scene) => expect(await resultsOf(follower, scene)).toEqual({ aside: 0, pending: 1 }),
  },
  dropResult: {
    before: refused,
    ask: (follower, { matchId }) => follower.dropResult(matchId),
    holds: async (follower, scene) => expect(await resultsOf(follower, scene)).toEqual({ aside: 0, pending: 0 }),
  },
  reportServer: {
    before: (follower, scene) => follower.registerServer(tokenIn(scene), registration),
    ask: reportOver,
    holds: isStopped,
  },
  drainServer: {
    before: (follower, scene) => follower.registerServer(tokenIn(scene), registration),
    ask: (follower, { matchId }) => follower.drainServer(matchId),
    holds: async (follower, scene) =>
      expect(await scene.answer(follower.registerServer(tokenIn(scene), registration))).toMatchObject({
        want: 'drain',
        reason: 'operator',
        matches: [{ id: scene.matchId }],
      }),
  },
  startServer: {
    ask: (follower) => follower.startServer({ playerIds: ['cat'], name: "cat's", attributes: {} }),
    answers: { seats: [{ playerId: 'cat', state: 'starting' }] },
    holds: async (follower, { answer, service }) => {
      expect(await answer(follower.seatsOf('cat'))).toMatchObject([{ state: 'starting' }])
      // The match's server, and one more, however often the request was repeated.
      expect(service.running()).toHaveLength(2)
    },
  },
  releaseSeat: {
    before: (follower) => follower.startServer({ playerIds: ['cat'], name: "cat's", attributes: {} }),
    ask: async (follower) => {
      const [seat] = await follower.seatsOf('cat')
      await follower.releaseSeat(seat?.id ?? '', 'cat').catch((error: unknown) => {
        // The repeated request finds no seat, because the first one gave it back.
        if (!(error instanceof UnknownSeat)) throw error
      })
    },
    holds: async (follower, { answer }) => expect(await answer(follower.seatsOf('cat'))).toEqual([]),
  },
  enrolServer: {
    ask: (follower) => follower.enrolServer(ENROL_KEY, enrolment, '192.0.2.1'),
    answers: { want: 'run', id: expect.stringMatching(/^e-/) },
    holds: async (follower, { answer }) => {
      const { token } = await answer(follower.enrolServer(ENROL_KEY, enrolment, '192.0.2.1'))
      expect(await answer(follower.registerServer(token, registration))).toMatchObject({ want: 'run' })
      expect((await answer(follower.inspect())).servers.map(({ source }) => source)).toEqual(['enrolled'])
    },
  },
  revokeEnrolment: {
    // A key that is not in the configuration, because a configured key cannot be revoked.
    ask: (follower) => follower.revokeEnrolment('0123abcd'),
    holds: async (follower, { answer }) => expect(await answer(follower.isEnrolmentKey(ENROL_KEY))).toBe(true),
  },
  stopServer: { ask: (follower, { matchId }) => follower.stopServer(matchId), holds: isStopped },
  stopMatch: { ask: (follower, { matchId }) => follower.stopMatch(matchId, { until: 'recorded' }), holds: isStopped },
  playersLeft: { ask: (follower, { matchId }) => follower.playersLeft(matchId, ['ann', 'bob']), holds: isStopped },
  acceptMatch: {
    asks: true,
    ask: (follower) => follower.acceptMatch('ann', 'ann'),
    answers: { id: 'ann', acceptance: { accepted: ['ann'] } },
    // The next leader asks the players again.
    holds: async (follower) => expect(await follower.getTicket('ann')).not.toMatchObject({ status: 'CANCELLED' }),
  },
  declineMatch: {
    asks: true,
    ask: (follower) => follower.declineMatch('ann', 'ann'),
    answers: { status: 'CANCELLED', cancelReason: 'declined' },
    holds: async (follower) => expect(await follower.getTicket('ann')).toMatchObject({ cancelReason: 'declined' }),
  },
  createBackfill: {
    ask: (follower, { matchId }) => follower.createBackfill({ id: 'fill', matchId }),
    answers: { id: 'fill', status: 'OPEN' },
    holds: async (follower, { answer }) =>
      expect(await answer(follower.getBackfill('fill'))).toMatchObject({ status: 'OPEN' }),
  },
  updateBackfill: {
    before: (follower, { matchId }) => follower.createBackfill({ id: 'fill', matchId }),
    ask: (follower) => follower.updateBackfill('fill', { version: 1, teams: [{ name: 'team', slots: 2 }] }),
    answers: { id: 'fill', version: 2 },
    holds: async (follower, { answer }) =>
      expect(await answer(follower.getBackfill('fill'))).toMatchObject({ version: 2 }),
  },
  cancelBackfill: {
    before: (follower, { matchId }) => follower.createBackfill({ id: 'fill', matchId }),
    ask: (follower) => follower.cancelBackfill('fill'),
    answers: { id: 'fill', status: 'CANCELLED' },
    holds: async (follower, { answer }) =>
      expect((await answer(follower.getBackfill('fill').catch(() => undefined)))?.status).not.toBe('OPEN'),
  },
  forgive: {
    asks: true,
    before: (follower) => follower.declineMatch('ann', 'ann'),
    ask: (follower) => follower.forgive('ann'),
    holds: async (follower, { answer }) => expect(await answer(follower.cooldownsOf('ann'))).toEqual([]),
  },
  pauseQueue: {
    ask: (follower) => follower.pauseQueue('duel'),
    holds: async (follower, scene) => expect(await paused(follower, scene)).toBe(true),
  },
  resumeQueue: {
    before: (follower) => follower.pauseQueue('duel'),
    ask: (follower) => follower.resumeQueue('duel'),
    holds: async (follower, scene) => expect(await paused(follower, scene)).toBe(false),
  },
  pausePool: {
    ask: (follower) => follower.pausePool('arena', true),
    holds: async (follower, scene) => expect(await poolPaused(follower, scene)).toBe(true),
  },
}

const teams = [{ name: 'team', size: { min: 2, max: 4 } }]
const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
const arena = { name: 'arena', deploy: duel.deploy, places, custom: {} }
const own = { name: 'own', places, enrol: [{ key: ENROL_KEY, place: 'Oslo', max: 1 }] }
const running = { ...duel, teams, matchSize: undefined, fillForMs: 0 }
const asking = { ...duel, acceptance: { withinMs: 60_000 }, cooldown: { firstMs: 600_000 } }

/** The leader ends at the nth call of a method after the command was sent, or it leaves in order. */
type End = 'leaves' | readonly [method: string, moment: 'before' | 'after', nth: number]
const ENDS: readonly (readonly [how: string, end: End])[] = [
  ['closes in good order', 'leaves'],
  ['stops before its first commit', ['commit', 'before', 1]],
  ['stops after its first commit', ['commit', 'after', 1]],
  ['stops before its second commit', ['commit', 'before', 2]],
  ['stops after its second commit', ['commit', 'after', 2]],
  ['stops after its first check of the lease', ['fence', 'after', 1]],
  ['stops before its first read of the inbox', ['inbox', 'before', 1]],
  ['stops before its second read of the inbox', ['inbox', 'before', 2]],
]

async function keeps({ asks = false, before, ask, answers, holds }: Scenario, end: End): Promise<void> {
  const world = createWorld({
    queues: [asks ? asking : running],
    pools: [arena, own],
    endedTicketTtlMs: 600_000,
    results,
  })
  const { service, clock, pass, player } = world
  let isAsked = false
  let seen = 0
  const first: Process = world.process({}, (method, moment) => {
    if (!isAsked || end === 'leaves' || method !== end[0] || moment !== end[1]) return
    seen += 1
    if (seen === end[2]) first.pause()
  })
  first.start()
  await pass(100)
  const second = world.process()
  second.start()
  await pass(300, 50)
  const answer: RpcServer = (asked) => clock.until(asked, 20)
  for (const id of ['ann', 'bob']) await answer(second.createTicket({ id, queue: 'duel', players: [player(id)] }))
  await pass(asks ? 700 : 3000, 50)
  const { matchId = '' } = (await second.getTicket('ann')) ?? {}
  const scene: Scene = { matchId, service, answer }
  if (before !== undefined) await answer(before(second, scene))
  isAsked = true
  const asked = ask(second, scene)
  if (end === 'leaves') void first.close()
  const given = await answer(asked)
  if (answers !== undefined) expect(given).toMatchObject(answers)
  // The leader is gone before it can do anything else.
  if (end !== 'leaves') first.pause()
  await pass(8000, 50)
  expect(second.leads()).toBe(true)
  await holds(second, scene)
  first.resume()
  await answer(Promise.all([second.close(), first.close()]))
}

test('every command with a stored effect has a scenario in this test', () => {
  const kept = (Object.keys(LEADER_COMMANDS) as RpcCommand[]).filter((command) =>
    ['kept', 'level'].includes(LEADER_COMMANDS[command]),
  )
  expect(Object.keys(KEPT).toSorted()).toEqual(kept.toSorted())
})

describe.each(Object.entries(KEPT))('the command %s', (command, scenario) => {
  test.each(ENDS)(`the command ${command} is stored and answered even if the leader %s`, async (_how, end) => {
    await expect(keeps(scenario, end)).resolves.toBeUndefined()
  })
})
