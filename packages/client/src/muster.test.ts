import { afterEach, describe, expect, test, vi } from 'vitest'
import { gatherFaults, openApi } from './api.fixture.js'
import { systemClock } from './clock.js'
import { createMuster, type Muster } from './muster.js'
import type { State } from './state.js'

type Api = ReturnType<typeof openApi>
let opened: Api | undefined
afterEach(async () => {
  await opened?.close()
  opened = undefined
})
const open = (...given: Parameters<typeof openApi>) => (opened = openApi(...given))

/** Returns the client's phases without consecutive repetitions. */
function phasesOf(muster: Muster): string[] {
  const phases: string[] = []
  muster.subscribe(({ phase }) => {
    if (phases.at(-1) !== phase) phases.push(phase)
  })
  return phases
}
const settled = (promise: PromiseLike<unknown>) => {
  const result: { value?: unknown; error?: unknown } = {}
  promise.then(
    (value) => (result.value = value),
    (error: unknown) => (result.error = error),
  )
  return result
}

describe('play', () => {
  test('play rejects a request that JSON cannot hold, and a token that no header can hold', async () => {
    const { connect, run } = open()
    const odd = settled(connect('ann').play({ profile: 'duel', attributes: { skill: 10n as never } }))
    const unheard = settled(connect('ann', undefined, { token: 'Łukasz' }).play({ profile: 'duel' }))
    const cut = settled(connect('ann', undefined, { token: async () => 'a\nb' }).play({ profile: 'duel' }))
    const led = settled(connect('ann', undefined, { token: '\nann' }).play({ profile: 'duel' }))
    const marked = settled(connect('ann', undefined, { token: 'ann\ufeff' }).play({ profile: 'duel' }))
    const read = settled(connect('ben', undefined, { token: 'ben\n' }).play({ profile: 'duel' }))
    await run(30)
    expect(odd.error).toBeInstanceOf(TypeError)
    for (const { error } of [unheard, cut, led, marked])
      expect(error).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(read).toEqual({})
  })

  test('a listener that is subscribed twice is called until both subscriptions have ended', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    let told = 0
    const listener = () => void (told += 1)
    const off = ann.subscribe(listener)
    ann.subscribe(listener)
    off()
    void ann.play({ profile: 'duel' }).catch(() => {})
    await run(1)
    expect(told).toBe(1)
  })

  test('play returns where to connect, with a join token, and each state on the way', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const seen: State[] = []
    const search = ann.play({ profile: 'duel' })
    const follow = (async () => {
      for await (const state of search) seen.push(state)
    })()
    const assignment = settled(search)
    await run(1)
    expect(ann.state).toMatchObject({ phase: 'searching', ticket: { queue: 'duel' } })
    connect('ben').play({ profile: 'duel' })
    await run(6)
    await follow
    expect(seen.map(({ phase }) => phase)).toEqual(['idle', 'searching', 'found', 'assigned'])
    expect(assignment.value).toMatchObject({ fqdn: expect.any(String), joinToken: expect.stringMatching(/\..*\./) })
    expect(ann.state).toMatchObject({ phase: 'assigned', matchId: expect.any(String) })
    expect(Object.isFrozen(ann.state)).toBe(true)
  })

  test('play resumes a ticket or match that the player already has, on the same or another device', async () => {
    const { connect, run, sent } = open()
    const here = connect('ann')
    const first = settled(here.play({ profile: 'duel' }))
    await run(1)
    const second = settled(here.play({ profile: 'duel' }))
    await run(1)
    expect([first, second]).toEqual([{}, {}])
    expect(sent.filter((line) => line === 'POST /tickets')).toHaveLength(1)
    const there = connect('ann')
    const search = settled(there.play({ profile: 'duel' }))
    await run(1)
    expect(there.state).toMatchObject({ phase: 'searching' })
    connect('ben').play({ profile: 'duel' })
    await run(6)
    for (const each of [first, second, search]) expect(each.value).toMatchObject({ fqdn: expect.any(String) })
    const third = connect('ann')
    expect(third.state).toEqual({ phase: 'idle' })
    await Promise.all([third.resume(), run(1)])
    expect(third.state).toMatchObject({ phase: 'assigned' })
    expect(settled(third.play({ profile: 'duel' }))).toBeDefined()
    await run(1)
    expect(third.state).toMatchObject({ phase: 'assigned' })
  })

  test('play fails with a reason and the field if Muster refuses it, and leaves the player idle', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const search = ann.play({ profile: 'duel', attributes: { skill: 'x'.repeat(100_000) } })
    const result = settled(search)
    const iterated = settled(search[Symbol.asyncIterator]().next())
    await run(1)
    expect(result.error).toMatchObject({ name: 'MusterError', status: expect.any(Number) })
    expect(iterated.value).toMatchObject({ value: { phase: 'idle' } })
    const none = settled(ann.play({ profile: 'nowhere' }))
    await run(1)
    expect(none.error).toMatchObject({ code: 'unknown-profile', status: 400, field: 'profile' })
    expect(ann.state).toEqual({ phase: 'idle' })
  })

  test('play is cancelled by cancel() and by a signal', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const search = ann.play({ profile: 'duel' })
    const result = settled(search)
    await run(1)
    const cancelled = settled(search.cancel())
    await run(1)
    expect(cancelled).toEqual({ value: undefined })
    expect(ann.state).toEqual({ phase: 'ended', reason: 'cancelled' })
    expect(result.error).toMatchObject({ code: 'cancelled' })
    const controller = new AbortController()
    const again = ann.play({ profile: 'duel' }, { signal: controller.signal })
    const states: string[] = []
    void (async () => {
      for await (const { phase } of again) states.push(phase)
    })()
    await run(1)
    controller.abort()
    await run(1)
    expect(states).toEqual(['ended', 'searching', 'ended'])
  })

  test('play is not cancelled by the AbortSignal of an earlier play call', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const controller = new AbortController()
    const first = ann.play({ profile: 'duel' }, { signal: controller.signal })
    settled(first)
    await run(1)
    settled(first.cancel())
    await run(1)
    settled(ann.play({ profile: 'duel' }))
    await run(1)
    controller.abort()
    await run(1)
    expect(ann.state).toMatchObject({ phase: 'searching' })
  })

  test('play continues after a state listener has thrown an error', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const seen: string[] = []
    const faults = gatherFaults()
    ann.subscribe(({ phase }) => {
      if (phase === 'searching') throw new Error('of the game')
    })
    ann.subscribe(({ phase }) => seen.push(phase))
    settled(ann.play({ profile: 'duel' }))
    await run(1)
    connect('ben').play({ profile: 'duel' })
    await run(6)
    expect(seen).toEqual(['searching', 'found', 'assigned'])
    expect(faults).toEqual([new Error('of the game')])
  })

  test('play can be cancelled before Muster has answered, and leaves no ticket', async () => {
    const { connect, run, matchmaker } = open()
    let fate: 'arrives' | 'late' = 'late'
    const ann = connect('ann', () => fate)
    const search = ann.play({ profile: 'duel' })
    settled(search)
    const cancelled = settled(search.cancel())
    await run(2)
    expect(cancelled).toEqual({})
    fate = 'arrives'
    await run(5)
    expect(cancelled).toEqual({ value: undefined })
    expect(ann.state).toEqual({ phase: 'ended', reason: 'cancelled' })
    expect(matchmaker.inspect().queues).toMatchObject([{ players: 0 }, { players: 0 }])
  })

  test('a player can accept or decline a match that was found', async () => {
    const { connect, run } = open()
    const [ann, ben] = [connect('ann'), connect('ben')] as const
    const [a, b] = [ann.play({ profile: 'ranked' }), ben.play({ profile: 'ranked' })]
    settled(a)
    settled(b)
    await run(2)
    expect(ann.state).toMatchObject({ phase: 'found', acceptance: { accepted: false } })
    const accepted = settled(a.accept())
    await run(1)
    expect(accepted).toEqual({ value: undefined })
    expect(ann.state).toMatchObject({ phase: 'found', acceptance: { accepted: true } })
    settled(b.decline())
    await run(1)
    expect(ben.state).toEqual({ phase: 'ended', reason: 'declined' })
    expect(ann.state).toMatchObject({ phase: 'searching' })
    const late = settled(b.accept())
    await run(1)
    expect(late.error).toMatchObject({ code: 'nothing' })
  })

  test('the client explains in a sentence why its ticket is still waiting', async () => {
    const { connect, run } = open()
    const search = connect('ann').play({ profile: 'duel' })
    settled(search)
    await run(1)
    const said = settled(search.explain())
    await run(1)
    expect(said.value).toMatch(/\w+ .*\./)
  })
})

describe('a group', () => {
  test('a group lists the members that are not ready, and `readyWithinMs` ends the wait for them', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    const ben = connect('ben')
    settled(ann.groups.create({ profile: 'duel' }))
    await run(1)
    if (ann.state.phase === 'gathering') settled(ben.groups.join(ann.state.group.id, { profile: 'duel' }))
    await run(2)
    expect(ann.state).toMatchObject({ group: { waitingFor: ['ann', 'ben'] } })
    settled(ann.groups.ready())
    const search = settled(ann.groups.search({ readyWithinMs: 10_000 }))
    const other = settled(ann.play({ profile: 'duel' }))
    await run(9)
    expect([search, ann.state]).toMatchObject([{}, { group: { isReady: true, waitingFor: ['ben'] } }])
    await run(1)
    expect(search.error).toMatchObject({ name: 'MusterError', code: 'not-ready' })
    expect(ann.state).toMatchObject({ phase: 'gathering' })
    settled(ben.groups.ready())
    await run(10)
    expect(other.value).toMatchObject({ fqdn: expect.any(String) })
    expect(() => ann.play({ profile: 'duel' }, { readyWithinMs: 0 })).toThrow('readyWithinMs')
  })

  test('a group is not ended by `readyWithinMs` while it searches, if it was ready in time', async () => {
    const { connect, run } = open()
    const ann = connect('ann')
    settled(ann.groups.create({ profile: 'duel' }))
    await run(1)
    const search = settled(ann.groups.search({ readyWithinMs: 5000 }))
    settled(ann.groups.ready())
    await run(20)
    expect([search, ann.state]).toMatchObject([{}, { phase: 'searching' }])
    settled(connect('ben').play({ profile: 'duel' }))
    await run(8)
    expect(search.value).toMatchObject({ fqdn: expect.any(String) })
  })

  test('a group gathers by its id, searches when all are ready, and gives each member the server address', async () => {
    const { connect, run } = open()
    const [ann, ben] = [connect('ann'), connect('ben')] as const
    const phases = phasesOf(ben)
    settled(ann.groups.create({ profile: 'duel' }))
    await run(1)
    if (ann.state.phase !== 'gathering') throw new Error(ann.state.phase)
    settled(ben.groups.join(ann.state.group.id, { profile: 'duel' }))
    await run(2)
    expect(ann.state).toMatchObject({
      group: { isReady: false, members: [{ playerId: 'ann' }, { playerId: 'ben', isReady: false }] },
    })
    const search = settled(ben.groups.search())
    settled(ann.groups.ready())
    settled(ben.groups.ready())
    await run(8)
    expect(phases).toEqual(['gathering', 'searching', 'found', 'assigned'].filter((one) => phases.includes(one)))
    expect(ann.state).toMatchObject({ phase: 'assigned' })
    expect(search.value).toMatchObject({ joinToken: expect.any(String) })
    const tokenOf = ({ state }: Muster) => (state.phase === 'assigned' ? state.assignment.joinToken : undefined)
    expect(tokenOf(ann)).not.toBe(tokenOf(ben))
  })

  test('a member can leave a group, a refused join has a reason, and a cancelled search ends the group', async () => {
    const { connect, run } = open()
    const [ann, ben] = [connect('ann'), connect('ben')] as const
    const none = settled(ben.groups.join('nowhere', { profile: 'duel' }))
    const nothing = settled(ben.groups.search())
    await run(1)
    expect(nothing.error).toMatchObject({ code: 'nothing' })
    expect(none.error).toMatchObject({ status: 404 })
    expect(ben.state).toEqual({ phase: 'idle' })
    settled(ann.groups.create({ profile: 'duel' }))
    await run(1)
    const busy = settled(ann.groups.create({ profile: 'duel' }))
    expect(await Promise.resolve(busy)).toBeDefined()
    if (ann.state.phase !== 'gathering') throw new Error(ann.state.phase)
    settled(ben.groups.join(ann.state.group.id, { profile: 'duel' }))
    await run(2)
    expect(busy.error).toMatchObject({ code: 'player-busy' })
    settled(ben.groups.leave())
    await run(2)
    expect(ben.state).toMatchObject({ phase: 'ended', reason: 'cancelled' })
    expect(ann.state).toMatchObject({ group: { members: [{ playerId: 'ann' }] } })
  })
})

describe('the connection', () => {
  test('the client state is stale when the connection breaks, and is restored with growing pauses', async () => {
    const { connect, run, sent, clock } = open()
    let fate: 'arrives' | 'proxy page' = 'arrives'
    const device = { now: clock.now, sleep: clock.sleep, date: () => clock.now() + 3_600_000 }
    const ann = connect('ann', () => fate, { random: () => 1, clock: device })
    settled(ann.play({ profile: 'duel' }))
    await run(1)
    fate = 'proxy page'
    const at = clock.now()
    await run(25)
    const { stale = 0 } = ann.state as { readonly stale?: number }
    expect(ann.state.phase).toBe('searching')
    // The device's wall clock was set forward by an hour, and the game compares times with it.
    expect(clock.now() + 3_600_000 - stale).toBeLessThanOrEqual(26_000)
    const before = sent.length
    await run(30)
    expect(sent.length - before).toBeLessThan(8)
    fate = 'arrives'
    await run(16)
    expect(ann.state).not.toHaveProperty('stale')
    expect(clock.now() - at).toBeLessThan(80_000)
  })

  test('the client requests a new token once for all refused requests, and then continues', async () => {
    const { connect, run } = open()
    const tokens = ['old', 'ann', 'ann']
    let asked = 0
    const ann = connect('ann', undefined, { token: async () => tokens[asked++] ?? 'ann' })
    settled(ann.play({ profile: 'duel' }))
    settled(ann.latencies())
    await run(2)
    expect(ann.state).toMatchObject({ phase: 'searching' })
    expect(asked).toBe(2)
  })

  test('play fails if Muster refuses the token, and is retried while the token function fails', async () => {
    const { connect, run } = open()
    const wrong = settled(connect('old').play({ profile: 'duel' }))
    await run(2)
    expect(wrong.error).toMatchObject({ code: 'unauthorized', status: 401 })
    let isDown = true
    const ann = connect('ann', undefined, {
      token: () => (isDown ? Promise.reject(new Error('the session service is down')) : 'ann'),
    })
    settled(ann.play({ profile: 'duel' }))
    await run(3)
    expect(ann.state).toMatchObject({ phase: 'idle', stale: expect.any(Number) })
    isDown = false
    await run(16)
    expect(ann.state).toMatchObject({ phase: 'searching' })
  })

  test('a token function that never answers is called again after ten seconds', async () => {
    const { connect, run } = open()
    let asked = 0
    const ann = connect('ann', undefined, {
      token: () => ((asked += 1) === 1 ? new Promise<string>(() => {}) : 'ann'),
    })
    settled(ann.play({ profile: 'duel' }))
    await run(5)
    expect(ann.state).toMatchObject({ phase: 'idle' })
    await run(10)
    expect(ann.state).toMatchObject({ phase: 'searching' })
    expect(asked).toBe(2)
  })

  test('a closed client sends nothing more, and rejects the waiting calls', async () => {
    const { connect, run, sent } = open()
    const ann = connect('ann')
    const search = settled(ann.play({ profile: 'duel' }))
    await run(1)
    ann.close()
    const before = sent.length
    await run(30)
    expect(sent.length).toBe(before)
    expect(search.error).toMatchObject({ code: 'closed' })
  })

  test('players are matched even if the clock of a client is an hour ahead or behind', async () => {
    const { connect, run, clock } = open()
    for (const off of [3_600_000, -3_600_000]) {
      const player = `ann${off}`
      const other = { now: () => clock.now() + off, sleep: clock.sleep }
      const search = settled(connect(player, undefined, { clock: other }).play({ profile: 'duel' }))
      settled(connect(`ben${off}`).play({ profile: 'duel' }))
      await run(8)
      expect(search.value).toMatchObject({ fqdn: expect.any(String) })
    }
    const before = systemClock.now()
    vi.spyOn(Date, 'now').mockReturnValue(0)
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    vi.restoreAllMocks()
  })

  test('client options with a wrong value are refused', () => {
    const { connect } = open()
    expect(() => connect('ann', undefined, { url: 'play.example' })).toThrow('url: must begin with http://')
    expect(() => connect('ann', undefined, { follow: 'events' })).toThrow('follow: "events" needs an EventSource')
  })
})

test('the client waits again if a timer ends a fraction of a millisecond too early', async () => {
  let now = 0
  const clock = {
    now: () => (now += 0.1),
    sleep: async (ms: number) => {
      // Timeouts never fire, and requests are answered at once.
      if (ms > 5000) return new Promise<void>(() => {})
      now += ms < 1 ? ms : Math.floor(ms)
    },
  }
  const answers = [new Response(null, { status: 503 }), Response.json({ tickets: [], groups: [], matches: [] })]
  const muster = createMuster({
    url: 'http://muster.test',
    follow: 'poll',
    clock,
    random: () => 0.5,
    fetch: async () => answers.shift() as Response,
  })
  expect(await muster.resume()).toMatchObject({ phase: 'idle' })
  muster.close()
})
