import { expect, test } from 'vitest'
import { PAPER } from '../layout.js'
import type { RelayProgress } from './job.js'
import { line, picture, sparkline } from './picture.js'
import { isGood, type RelayResult } from './result.js'
import { summary } from './summary.js'

const progress: RelayProgress = {
  lobbies: 70,
  tables: [
    { seats: ['ann', 'ben', undefined, 'cleo'], hostId: 'ben', over: false },
    { seats: ['dan', undefined, undefined, undefined], hostId: 'dan', over: false },
    { seats: ['eve', 'fay', undefined, undefined], hostId: 'eve', over: true },
  ],
  moves: { joins: 3, cameBack: 1, left: 2, kicked: 4, newHosts: 5 },
  isLinked: (playerId) => playerId === 'ann' || playerId === 'ben',
  packetsRelayed: 12_345,
  latency: { p50: 120, p99: 2350 },
  sessions: { open: 6, opened: 7 },
  phase: 'playing',
}

test('the relay demo draws lobbies slot by slot, and counts those that do not fit into the picture', () => {
  const text = picture(progress, [10, 400], 7600, PAPER)
  expect(text).toContain('  ●◆·○  ◇···  ╌╌╌╌\n')
  expect(text).toContain('and 6 more')
  const parts = [
    '7.6 s   playing over the relay',
    '2 open',
    '1 over   of 70',
    '4 in',
    '12,345 relayed',
    '400 per s',
    '0.12 ms',
  ]
  for (const part of parts) expect(text).toContain(part)
  const widest = Math.max(...text.split('\n').map((row) => row.length))
  expect(widest).toBeLessThanOrEqual(80)
})

test('the one-line summary of the relay demo shows the main figures', () => {
  const counts = '2 lobbies open, 3 joins, 5 new hosts, 12345 packets relayed, 6 sessions open'
  expect(line(progress, 7600)).toBe(`  8 s  playing: ${counts}`)
})

test('sparkline bars show the last values relative to the highest', () => {
  expect(sparkline([], 5)).toBe('')
  expect(sparkline([0, 0], 5)).toBe('▁▁')
  expect(sparkline([9, 0, 50, 100], 3)).toBe('▁▅█')
})

const result: RelayResult = {
  lobbies: 40,
  players: 200,
  moves: progress.moves,
  packets: { sent: 9000, relayed: 18_000, cutOff: 3, lost: 0 },
  latency: { relayed: { p50: 113, p99: 2400 }, direct: { p50: 71, p99: 1600 }, added: { p50: 42, p99: 800 } },
  kicked: { refused: 4, notRefused: 0 },
  stuck: 0,
  unfinished: 0,
  problems: [],
  interruptedWith: undefined,
  faults: [],
  sessionsOpened: 60,
  sessionsLeft: 0,
  seconds: 14.4,
  seed: 1,
}

test.each([
  { packets: { ...result.packets, lost: 10 } },
  { packets: { ...result.packets, sent: 0 } },
  { kicked: { refused: 3, notRefused: 1 } },
  { stuck: 1 },
  { unfinished: 1 },
  { sessionsLeft: 1 },
])('the summary of the relay demo reports the fault %j', (change) => {
  expect(isGood(result)).toBe(true)
  expect(isGood({ ...result, ...change })).toBe(false)
  expect(summary({ ...result, ...change })).toContain('not as it should be')
})

test('the summary of the relay demo shows all figures', () => {
  const text = summary({ ...result, problems: ['Error: why'] })
  for (const part of [
    '40, with 200 players',
    '4 kicked: 4 refused by the relay, 0 not',
    '18,000 relayed',
    'p50   42 µs   p99   800 µs',
    '60 opened',
    'sessions left    0',
    'Error: why',
    'Every packet is accounted for',
  ]) {
    expect(text).toContain(part)
  }
})

test('the picture of the relay demo fits a terminal of few columns and rows', () => {
  const tables = Array.from({ length: 40 }, () => ({
    seats: ['ann', 'ben', undefined, undefined, undefined, 'cleo'],
    hostId: 'ben',
    over: false,
  }))
  const lines = picture({ ...progress, lobbies: 40, tables }, [10, 400], 7600, { columns: 60, rows: 20 }).split('\n')
  expect(lines.length).toBeLessThan(20)
  expect(Math.max(...lines.map((row) => row.length))).toBeLessThanOrEqual(60)
  expect(lines.filter((row) => row.includes('◇'))).not.toEqual([])
})

test('the summary of a stopped relay demo says what happened to the sessions', () => {
  const text = summary({ ...result, interruptedWith: 31, unfinished: 40 })
  expect(text).toContain('31 sessions were open when you stopped the demo. All have been closed, and none is left.')
  expect(text).not.toContain('not as it should be')
  expect(summary({ ...result, interruptedWith: 1, sessionsLeft: 1 })).toContain(
    '1 session was open when you stopped the demo. 1 could not be closed.',
  )
})
