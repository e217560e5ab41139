import type { FoundStories, Story } from '@muster/console/internal'
import type { MatchmakerEvents } from '@muster/matchmaker'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openConsole } from '../open-console.fixture.js'
import { createEventRing } from './recorded-events.js'

async function open(options?: Parameters<typeof openConsole>[0]) {
  const world = await openConsole(options)
  const { matchmaker } = world
  const join = (id: string, skill = 0, queue = 'duel') =>
    matchmaker.createTicket({
      id,
      queue,
      players: [{ id: `player-${id}`, ip: '198.51.100.7', attributes: { skill } }],
    })
  const find = async (id: string): Promise<FoundStories> => {
    const answer = await world.ask(`/console/api/find?id=${encodeURIComponent(id)}`, { token: 'looker' })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toMatch(/198\.51|203\.0\.113/)
    return answer.body as FoundStories
  }
  const one = async (id: string): Promise<Story> => {
    const { stories } = await find(id)
    expect(stories).toHaveLength(1)
    return stories[0] as Story
  }
  matchmaker.start()
  return { ...world, join, find, one }
}

const whats = ({ events }: Story) => events.map(({ what }) => what)

describe('a story in the console', () => {
  test('the story of a ticket covers its life from created to ended, and when limits relaxed', async () => {
    const { clock, join, one, matchmaker } = await open()
    const start = clock.now()
    join('ann', 0)
    await clock.advance(12_000)
    join('ben', 150)
    await clock.advance(18_000)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    const running = await one('ann')
    expect(running).toMatchObject({ kind: 'ticket', cut: false, explanation: null, actions: [] })
    expect(running.state).toBe('sent to the server of its match in duel')
    expect(whats(running)).toEqual(['created', 'relaxed', 'found', 'deployed', 'ready', 'assigned'])
    expect(running.events.map(({ text }) => text)).toEqual([
      'A player began to wait in queue duel.',
      'After 10 s of waiting in duel: difference skill 200.',
      'A match of 2 tickets was found in duel, by the limits from 10 s of waiting on.',
      'The service accepted the server.',
      expect.stringMatching(/^The server was ready after \d s\.$/),
      'Players of 2 tickets were sent to the server in Frankfurt, Germany.',
    ])
    expect(running.events[1]?.at).toBe(start + 10_000)
    expect(running.related).toContainEqual({ kind: 'match', id: matchId })
    expect(running.related).toContainEqual({ kind: 'ticket', id: 'ben' })
    matchmaker.playersLeft(matchId, ['player-ann'])
    await clock.advance(1000)
    matchmaker.playersLeft(matchId, ['player-ben'])
    await clock.advance(60_000)
    expect(whats(await one('ann')).slice(6)).toEqual(['left', 'ended'])
    const later = await one(matchId)
    expect(later).toMatchObject({ kind: 'match', state: 'over', actions: [] })
    expect(whats(later)).toEqual(['found', 'deployed', 'ready', 'assigned', 'left', 'left', 'ended'])
    expect(later.events.at(-1)?.text).toBe('The server was stopped: all players have left.')
  })

  test('the story of a queued ticket explains its wait, rule by rule, and offers actions', async () => {
    const { clock, join, one } = await open()
    join('ann', 0)
    join('ben', 1000)
    await clock.advance(5000)
    const story = await one('ann')
    expect(story.state).toBe('searching for 5 s in duel')
    expect(story.actions).toEqual(['cancel-ticket'])
    expect(story.explanation).toMatchObject({
      summary: expect.stringContaining('skill'),
      queues: [{ queue: 'duel', rules: [{ rule: 'difference skill', lets: 0, of: 1 }] }],
    })
  })

  test('the console story of a player covers all tickets, and the story of a server covers its match', async () => {
    const { clock, join, one, matchmaker } = await open()
    join('ann')
    matchmaker.cancelTicket('ann')
    await clock.advance(1000)
    join('ann2')
    const players = [{ id: 'player-ann', ip: '198.51.100.7', attributes: { skill: 0 } }]
    matchmaker.createTicket({ id: 'ann3', queue: 'duel', players })
    await clock.advance(9000)
    const player = await one('player-ann')
    expect(player.kind).toBe('player')
    expect(player.state).toBe('is in a match')
    expect(whats(player)).toEqual(['created', 'cancelled', 'created', 'found', 'deployed', 'ready', 'assigned'])
    expect(player.related[0]).toEqual({ kind: 'ticket', id: 'ann3' })
    const server = player.related.find(({ kind }) => kind === 'server')
    expect(server).toBeDefined()
    const story = await one(server?.id ?? '')
    expect(story).toMatchObject({ kind: 'server', state: 'running', actions: [] })
    expect(whats(story)).toEqual(['deployed', 'ready', 'assigned'])
  })

  test('a console story explains in words why something failed', async () => {
    const acceptance = { withinMs: 5000 }
    const queue = { name: 'duel', matchSize: 2, deploy, acceptance }
    const { clock, join, one, matchmaker } = await open({ queues: [queue] })
    join('ann')
    join('ben')
    await clock.advance(1000)
    matchmaker.acceptMatch('ann')
    expect((await one('ann')).state).toBe('in a match of duel, asked to accept it')
    matchmaker.declineMatch('ben')
    await clock.advance(1000)
    const ann = await one('ann')
    expect(whats(ann)).toEqual(['created', 'found', 'accepted', 'returned'])
    expect(ann.events[3]?.text).toBe('Searches again, its waiting time kept: others did not accept the match.')
    const ben = await one('ben')
    expect(whats(ben)).toEqual(['created', 'found', 'declined'])
    const match = ann.related.find(({ kind }) => kind === 'match')
    expect(await one(match?.id ?? '')).toMatchObject({ state: 'came to nothing', actions: [] })
  })

  test('a console story is found by any possible id, and an unknown id finds no story', async () => {
    const { clock, find, matchmaker } = await open()
    const odd = '<img src=x onerror=alert(1)> "\'\u2028 😀 ../..?&#%00'
    matchmaker.createTicket({ queue: 'duel', players: [{ id: odd, ip: '198.51.100.7', attributes: { skill: 1 } }] })
    await clock.advance(1000)
    const { id, stories } = await find(odd)
    expect(id).toBe(odd)
    expect(stories).toMatchObject([{ kind: 'player', id: odd, state: 'waits' }])
    expect((await find('nobody')).stories).toEqual([])
    for (const name of ['__proto__', 'constructor', 'toString']) expect((await find(name)).stories).toEqual([])
  })
})

const deploy = { application: 'game', version: '1' }

describe('searches for stories', () => {
  test('searches for console stories are limited for each caller, and in length', async () => {
    const { ask } = await open()
    const statuses: number[] = []
    for (let count = 0; count < 25; count += 1) {
      statuses.push((await ask('/console/api/find?id=x', { token: 'looker' })).status)
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    const other = (query: string) => ask(`/console/api/find${query}`, { token: 'operator' })
    expect((await other(`?id=${'x'.repeat(129)}`)).status).toBe(400)
    expect((await other('?id=')).status).toBe(400)
    expect((await other('?id=a&id=b')).status).toBe(400)
    expect((await other('')).status).toBe(400)
    expect((await other('?id=a&token=looker')).status).toBe(400)
  })
})

describe('the memory of events', () => {
  const created = (ticketId: string, at: number) =>
    ({ at, what: 'created', ticketId, playerIds: [ticketId], queues: ['duel'] }) as const

  test('the event memory keeps the newest events within its limits, in order, with the time of the oldest', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.string({ maxLength: 200 })), (mostEvents, ids) => {
        const ring = createEventRing({ mostEvents, mostBytes: 3000 })
        for (const [at, id] of ids.entries()) {
          ring.add(created(id, at))
          const kept = [...ring.scan()]
          expect(kept.map((event) => event.at)).toEqual(
            Array.from({ length: kept.length }, (_, index) => at + 1 - kept.length + index),
          )
          expect(kept.length).toBeLessThanOrEqual(mostEvents)
          expect(ring.since()).toBe(kept[0]?.at)
          expect(ring.hasDropped()).toBe(kept.length < at + 1)
        }
      }),
    )
  })

  test('the event memory can be read while events are added and removed', () => {
    const ring = createEventRing({ mostEvents: 4, mostBytes: 1e6 })
    for (let at = 0; at < 4; at += 1) ring.add(created('x', at))
    const seen: number[] = []
    for (const { at } of ring.scan()) {
      seen.push(at)
      if (at < 3) for (let more = 0; more < 2; more += 1) ring.add(created('y', 100 + seen.length * 2 + more))
    }
    expect(seen).toEqual([...seen].toSorted((one, other) => one - other))
    expect(new Set(seen).size).toBe(seen.length)
  })
})

describe('a console story for any events', () => {
  const id = fc.integer({ min: 0, max: 5 })
  const act = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), id, party: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), id }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('accept' as const), id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('decline' as const), id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('left' as const), id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), id }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(12_000) }) },
  )

  test('a console story contains each event about its subject once, in the order of time (property)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), fc.boolean(), async (acts, asks) => {
        const queue = { name: 'duel', matchSize: 2, deploy, ...(asks ? { acceptance: { withinMs: 5000 } } : {}) }
        const world = await open({ queues: [queue] })
        const { matchmaker, clock } = world
        const heard: { about: string; what: string }[] = []
        const hear = (ids: readonly (string | undefined)[], what: string) => {
          for (const about of new Set(ids)) if (about !== undefined) heard.push({ about, what })
        }
        const about = (event: { readonly tickets: MatchmakerEvents['matchFound']['tickets'] }) =>
          event.tickets.map((ticket) => ticket.id)
        matchmaker.on('ticketCreated', ({ ticket }) => hear([ticket.id], 'created'))
        matchmaker.on('matchFound', (event) => hear([...about(event), event.matchId], 'found'))
        matchmaker.on('matchAccepted', ({ ticket, matchId }) => hear([ticket.id, matchId], 'accepted'))
        matchmaker.on('ticketRequeued', ({ ticket, matchId }) => hear([ticket.id, matchId], 'returned'))
        matchmaker.on('cancelled', ({ ticket, reason }) =>
          hear([ticket.id, ticket.matchId], reason === 'declined' ? 'declined' : 'cancelled'),
        )
        matchmaker.on('expired', ({ ticket }) => hear([ticket.id, ticket.matchId], 'expired'))
        const serverOf = new Map<string, string>()
        matchmaker.on('deploymentCreated', ({ matchId, requestId }) => {
          serverOf.set(matchId, requestId)
          hear([matchId, requestId], 'deployed')
        })
        matchmaker.on('deploymentReady', ({ matchId, requestId }) => hear([matchId, requestId], 'ready'))
        matchmaker.on('serverAssigned', (event) => hear([...about(event), event.matchId, event.requestId], 'assigned'))
        matchmaker.on('playersLeft', ({ matchId }) => hear([matchId, serverOf.get(matchId)], 'left'))
        matchmaker.on('deploymentStopped', ({ matchId, requestId }) => hear([matchId, requestId], 'ended'))
        let made = 0
        const latest = new Map<number, string>()
        const attempt = (change: () => unknown) => {
          try {
            void Promise.resolve(change()).catch(() => {})
          } catch {} // it is too late for the command, or its object does not exist
        }
        const ticketOf = (one: number) => matchmaker.getTicket(latest.get(one) ?? '')
        for (const one of acts) {
          if (one.kind === 'pass') await clock.advance(one.ms)
          else if (one.kind === 'join') {
            attempt(() => {
              made += 1
              const names = [`p${one.id}`, ...(one.party ? [`q${one.id}`] : [])]
              const players = names.map((name) => ({ id: name, ip: '198.51.100.7' }))
              matchmaker.createTicket({ id: `t${made}`, queue: 'duel', players })
              latest.set(one.id, `t${made}`)
            })
          } else if (one.kind === 'cancel') attempt(() => matchmaker.cancelTicket(latest.get(one.id) ?? ''))
          else if (one.kind === 'accept') attempt(() => matchmaker.acceptMatch(latest.get(one.id) ?? ''))
          else if (one.kind === 'decline') attempt(() => matchmaker.declineMatch(latest.get(one.id) ?? ''))
          else if (one.kind === 'left')
            attempt(() => matchmaker.playersLeft(ticketOf(one.id)?.matchId ?? '', [`p${one.id}`]))
          else attempt(() => matchmaker.stopMatch(ticketOf(one.id)?.matchId ?? ''))
        }
        await clock.advance(1000)
        for (const subject of [...new Set(heard.map((event) => event.about))].slice(0, 15)) {
          const story = await world.one(subject)
          expect(story.events.map(({ at }) => at)).toEqual(story.events.map(({ at }) => at).toSorted((a, b) => a - b))
          // Events about the server of a ticket's match do not name the ticket.
          const names = ({ refs }: Story['events'][number]) => refs.some((ref) => ref.id === subject)
          const own = story.events.filter((event) => story.kind !== 'ticket' || names(event))
          const expected = heard.filter((event) => event.about === subject).map((event) => event.what)
          expect(own.map(({ what }) => what)).toEqual(expected)
        }
        await world.close()
      }),
      { numRuns: 25 },
    )
  })
})
