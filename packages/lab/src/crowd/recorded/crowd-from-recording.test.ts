import { describe, expect, test } from 'vitest'
import { readCrowd, writeCrowd } from '../crowd-lines.js'
import { crowdFromRecording } from './crowd-from-recording.js'
import { duel, player, recordedMatchmaker } from './recording.fixture.js'

/** Records a few minutes: two players play and queue again, one gives up, and one is never matched. */
async function record() {
  const { matchmaker, plain, lines, pass } = recordedMatchmaker()
  const found: string[] = []
  plain.on('matchFound', ({ matchId }) => found.push(matchId))
  const create = (id: string, name: string, skill = 0) =>
    matchmaker.createTicket({ id, queue: 'duel', players: [player(name, skill)] })
  create('a1', 'ann')
  await pass(4000)
  create('b1', 'ben', 10)
  create('c1', 'cem', 900)
  await pass(20_000)
  matchmaker.cancelTicket('c1')
  await pass(120_000)
  matchmaker.playersLeft(found[0] as string, ['ann', 'ben'])
  await pass(30_000)
  create('a2', 'ann')
  create('d1', 'dan', 900)
  await pass(10_000)
  matchmaker.cancelTicket('a2')
  await pass(70_000)
  return lines
}

const recording = await record()

describe('a crowd from recorded traffic', () => {
  test('a recording yields visits from creates, patience from cancels, and match ends from leavers', async () => {
    const { crowd, notes } = await crowdFromRecording(recording)
    expect(notes).toEqual([])
    expect(crowd.header).toEqual({ format: 'muster-crowd-1', startsAt: 1_000_000, durationMs: 174_001 })
    const [ann, ben, cem, dan] = crowd.parties
    expect(ann).toMatchObject({ id: 'a1', at: 0, queues: ['duel'], players: [{ ...player('ann'), region: 'Europe' }] })
    expect(crowd.parties.map(({ id, at, visits }) => [id, at, visits.length])).toEqual([
      ['a1', 0, 2],
      ['b1', 4000, 1],
      ['c1', 4000, 1],
      ['d1', 174_000, 1],
    ])
    // Ann was matched at the first tick after Ben came, and left 140 s later. After that, she waited 10 s and gave up.
    expect(ann?.visits[0]).toMatchObject({ playMs: 139_750, breakMs: 30_000, accepts: true })
    expect(ann?.visits[0]?.patienceMs).toBeGreaterThan(4000)
    expect(ann?.visits[1]).toMatchObject({ patienceMs: 10_000 })
    expect(ben?.visits[0]?.playMs).toBe(139_750)
    expect(cem?.visits[0]).toMatchObject({ patienceMs: 20_000 })
    // Dan's ticket expired after a minute, the longest wait of all, so his patience is longer than that.
    expect(dan?.visits[0]?.patienceMs).toBeGreaterThan(60_000)
  })

  test('a crowd from a recording is the same for the same seed, and can be read after it was written', async () => {
    const { crowd } = await crowdFromRecording(recording, { seed: 5 })
    expect((await crowdFromRecording(recording, { seed: 5 })).crowd).toEqual(crowd)
    expect((await crowdFromRecording(recording, { seed: 6 })).crowd).not.toEqual(crowd)
    const written: string[] = []
    await writeCrowd(crowd, (text) => void written.push(text))
    expect(await readCrowd(written.join('').split('\n'))).toEqual(crowd)
  })

  test('a crowd from a recording contains no addresses; players of a network still share a network', async () => {
    const ticket = (id: string, ip: string) =>
      line({ kind: 'create', ticket: { id, queues: ['duel'], players: [{ id, ip }], priority: 0, createdAt: 1 } })
    const lines = [ticket('a', '203.0.113.7'), ticket('b', '203.0.113.9'), ticket('c', '198.51.100.1')]
    const { crowd } = await crowdFromRecording(lines)
    expect(JSON.stringify(crowd)).not.toMatch(/203\.0|198\.51/)
    const [a, b, c] = crowd.parties.map(({ players }) => players[0]?.ip)
    expect([a === b, a === c]).toEqual([true, false])
  })

  test('a crowd from a recording comes with notes on what it cannot carry over', async () => {
    const create = (id: string, createdAt: number) =>
      line({ kind: 'create', ticket: { id, queues: ['duel'], players: [player(id)], priority: 2, createdAt } })
    const { crowd, notes } = await crowdFromRecording([
      create('a', 4),
      line({ kind: 'backfill', ticketIds: ['a'], backfill: { id: 'f' } }),
      line({ kind: 'backfillCancel', id: 'f' }),
      create('a', 4),
      line({ kind: 'cancel', ticketId: 'gone' }),
      line({ kind: 'decline', ticketId: 'a' }),
    ])
    expect(crowd.parties).toMatchObject([{ id: 'a', at: 0, priority: 2, visits: [{ accepts: false }] }])
    expect(notes).toEqual([
      'left out: lines about backfills, which a crowd cannot contain (2)',
      'left out: creates of tickets that already exist (1)',
      'left out: lines about tickets or players from before the recording (1)',
      'tickets that already waited when the recording began arrive at its beginning (1)',
      'when tickets were matched is unknown: the recording has no queues',
      'nobody gave up, so the patience of players is taken from generated crowds',
      'no match ended, so the length of matches is taken from generated crowds',
    ])
  })

  test('a crowd from a recording skips the last line of a process that a crash has cut, and no other', async () => {
    const whole = (await crowdFromRecording(recording)).crowd
    const cut = (recording.at(-1) as string).slice(0, 20)
    expect((await crowdFromRecording([...recording, cut])).crowd).toEqual(whole)
    const start = recording.find((text) => text.includes('"kind":"start"')) as string
    expect((await crowdFromRecording([...recording, cut, start])).crowd).toEqual(whole)
    await expect(crowdFromRecording([recording[0] as string, cut, ...recording.slice(1, 3)])).rejects.toThrow('line 2')
    await expect(crowdFromRecording([cut])).rejects.toThrow('line 1')
  })

  test('a crowd from several recordings in a row is ordered by time', async () => {
    const later = recording.map((text) => {
      const { at, ...rest } = JSON.parse(text) as { at: number; ticket?: { createdAt: number } }
      const ticket = rest.ticket && {
        ...rest.ticket,
        id: `${(rest.ticket as { id?: string }).id}-later`,
        createdAt: at + 1e6,
      }
      return JSON.stringify({ ...rest, at: at + 1e6, ...(ticket && { ticket }) })
    })
    const { crowd } = await crowdFromRecording([...recording, ...later].toReversed())
    expect(crowd.parties[0]).toMatchObject({ id: 'a1', at: 0 })
    expect(crowd.parties[0]?.visits).toHaveLength(4)
    expect(crowd.parties.map(({ players }) => players[0]?.id)).toEqual(['ann', 'ben', 'cem', 'dan'])
  })

  test('a crowd from a recording starts a new party for another queue, and for simultaneous tickets', async () => {
    const create = (id: string, at: number, queue: string) =>
      line(
        { kind: 'create', ticket: { id, queues: [queue], players: [player('ann')], priority: 0, createdAt: at } },
        at,
      )
    const { crowd } = await crowdFromRecording([
      create('a', 1000, 'duel'),
      create('b', 2000, 'casual'),
      create('c', 3000, 'casual'),
      line({ kind: 'cancel', ticketId: 'c' }, 9000),
      create('d', 8000, 'casual'),
    ])
    expect(crowd.parties.map(({ id, visits }) => [id, visits.length])).toEqual([
      ['a', 1],
      ['b', 2],
      ['d', 1],
    ])
  })
})

const line = (event: object, at = 10) => JSON.stringify({ at, n: 0, ...event })

describe('an invalid recording', () => {
  const start = line({ kind: 'start', format: 'muster-recording-1', queues: [duel] })
  const create = (more: object, at = 10) =>
    line(
      {
        kind: 'create',
        ticket: { id: 'a', queues: ['duel'], players: [player('a')], priority: 0, createdAt: 10, ...more },
      },
      at,
    )
  test.each<[string, readonly string[], string]>([
    ['truncated', [start, create({}).slice(0, -9)], 'line 2: is cut off: '],
    ['another kind', ['{"a":1}'], 'line 1: kind: '],
    [
      'another format',
      [line({ kind: 'start', format: 'muster-recording-9' })],
      'line 1: format: must be "muster-recording-1"',
    ],
    ['an unknown field', [start, create({ hat: 1 })], 'line 2: ticket.hat: is not known'],
    [
      'a player with an invalid attribute',
      [start, create({ players: [{ id: 'a', attributes: { skill: null } }] })],
      'line 2: players.0',
    ],
    [
      'an invalid time',
      [start, create({ createdAt: -5 })],
      'line 2: ticket.createdAt: must be epoch milliseconds from 0',
    ],
    ['a line years later', [start, create({}, 4e12)], 'line 2: at: must be within 31 days of the first line'],
    ['empty', [start], 'line 1: the recording is empty: no line creates a ticket'],
  ])('an invalid recording is refused with its line: %s', async (_, lines, message) => {
    await expect(crowdFromRecording(lines)).rejects.toThrow(message)
  })
})
