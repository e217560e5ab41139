import { expect, test } from 'vitest'
import { type HostingEntry, type ServerLog, TicketsGone } from '@muster/hosting/internal'
import { createWorld, duel } from './leader.fixture.js'
import type { Leader } from './leader.js'

/** Creates a store that learns of cancelled tickets while it writes an entry of this kind. */
function setUp(kind: HostingEntry['kind'], cancel: readonly string[], options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  let leader: Leader | undefined
  const isRefused = kind === 'match' || kind === 'sent'
  const asked: (readonly string[])[] = []
  const serverLog = (slowMs: number): ServerLog => ({
    open: () => world.serverLog.open(),
    append: (entries) => {
      const write = () => {
        const entry = entries.find((one) => one.kind === kind)
        if (entry !== undefined) {
          const matchId = 'matchId' in entry ? entry.matchId : entry.serverId
          asked.push(leader?.expected(matchId) ?? [])
          const gone = (leader?.expected(matchId) ?? []).filter((id) => cancel.includes(id))
          for (const id of gone) leader?.cancelTicket(id)
          if (isRefused && gone.length > 0) throw new TicketsGone(matchId, gone)
        }
        return world.serverLog.append(entries)
      }
      return slowMs === 0 ? write() : world.clock.sleep(slowMs).then(write)
    },
  })
  const begin = (slowMs: number) => {
    const process = world.process({ serverLog: serverLog(slowMs) })
    leader = process.leader
    void leader.lead()
    return process
  }
  return { ...world, begin, asked }
}

test.each([
  ['match', 0],
  ['match', 50],
  ['sent', 0],
  ['sent', 50],
] as const)(
  'if another process cancels a ticket while the leader writes the log entry `%s` (%i ms), the match ends',
  async (kind, slowMs) => {
    const { begin, join, service, entries, serverLog } = setUp(kind, ['ann'])
    const { leader, run, seen, changes } = begin(slowMs)
    leader.load([join('ann'), join('ben')])
    await run(1000)
    expect(service.calls.create).toEqual([])
    expect(seen.problem).toBeUndefined()
    expect(leader.inspect()).toMatchObject({ blockedBy: undefined, pausedUntil: undefined })
    expect(leader.getTicket('ann')).toMatchObject({ status: 'CANCELLED' })
    expect(changes.at(-1)).toMatchObject({ id: 'ben', status: 'SEARCHING', waitingFor: 'players', attempts: 0 })
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'dissolved' }])
    expect(entries.slice(-2).map((entry) => entry.kind)).toEqual(['gone', 'over'])
    expect(await serverLog.open()).toEqual({ servers: [], matches: [] })
    // The remaining tickets are matched at once.
    leader.load([join('cas')])
    await run(7000)
    expect(leader.getTicket('ben')?.status).toBe('HOST_ASSIGNED')
  },
)

test('creates are not paused when cancels in another process end many matches', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `p${index}`)
  const { begin, join, service } = setUp('match', ids.slice(0, 10))
  const { leader, run } = begin(20)
  leader.load(ids.map((id) => join(id)))
  await run(3000)
  expect(leader.inspect().pausedUntil).toBeUndefined()
  expect(service.records.length).toBeGreaterThan(4)
})

test.each([0, 50])(
  'if another process cancels a ticket while the leader writes the log entry `playing` (%i ms), match and server end',
  async (slowMs) => {
    const { begin, join, service, asked, serverLog } = setUp('playing', ['ann'])
    const { leader, run, seen } = begin(slowMs)
    leader.load([join('ann'), join('ben')])
    await run(12_000)
    expect(asked[0]).toEqual(['ann', 'ben'])
    expect(seen.serverAssigned).toBeUndefined()
    expect(leader.getTicket('ben')).toMatchObject({ status: 'SEARCHING', waitingFor: 'players', attempts: 0 })
    expect(service.unstopped()).toEqual([])
    expect(await serverLog.open()).toEqual({ servers: [], matches: [] })
  },
)

test.each([0, 50])(
  'with replaceLeavers, a ticket that another process cancels during a log write (%i ms) is replaced in the match',
  async (slowMs) => {
    const queue = { ...duel, matchSize: 3, replaceLeavers: true }
    const { begin, join, service, serverLog } = setUp('playing', ['ann'], { queues: [queue] })
    const { leader, run, seen } = begin(slowMs)
    leader.load([join('ann'), join('ben'), join('cas')])
    await run(7000)
    expect(seen.serverAssigned?.map(({ tickets }) => tickets.map(({ id }) => id))).toEqual([['ben', 'cas']])
    expect(service.unstopped()).toEqual(['r1'])
    leader.load([join('dee')])
    await run(1000)
    expect(leader.getTicket('dee')).toMatchObject({ status: 'HOST_ASSIGNED' })
    expect(await serverLog.open()).toMatchObject({
      servers: [{ isUp: true }],
      matches: [{ playerIds: ['ben', 'cas', 'dee'] }],
    })
  },
)

test('a player who joined a running match and is reported as left is not in the match', async () => {
  const queue = { ...duel, matchSize: undefined, teams: [{ name: 'all', size: { min: 1, max: 3 } }], fillForMs: 0 }
  const { process, join, service } = createWorld({ queues: [queue] })
  const { leader, run } = process()
  await leader.lead()
  leader.load([join('ann')])
  await run(6500)
  const { matchId = '' } = leader.getTicket('ann') ?? {}
  leader.createBackfill({ matchId })
  leader.load([join('ben')])
  await run(250)
  expect(leader.getTicket('ben')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  leader.playersLeft(matchId, ['ben'])
  expect(leader.inspect().matches[0]?.playerIds).toEqual(['ann'])
  leader.playersLeft(matchId, ['ann'])
  await run(5000)
  expect(service.unstopped()).toEqual([])
})
