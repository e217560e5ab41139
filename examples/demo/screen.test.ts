import { expect, test } from 'vitest'
import type { Progress } from './progress.js'
import { PAPER } from './layout.js'
import { picture } from './screen.js'

const progress: Progress = {
  queues: [
    { title: 'ranked 5v5', players: 100, arrived: 60, waiting: 10, deploying: 20, playing: 30 },
    { title: 'duel 1v1', players: 10, arrived: 10, waiting: 0, deploying: 0, playing: 10 },
  ],
  matches: 9,
  serversReady: 5,
  requests: 70,
  limits: [{ name: 'createDeployment', limit: 40, peak: 38 }],
  longest: { queue: 'ranked', waitedMs: 4210, why: 'Nobody else is near.' },
  phase: 'matching',
}

test('the demo screen shows each queue as a bar by its players, and why the oldest ticket waits', () => {
  const lines = picture(progress, 12_340, false, PAPER).split('\n')
  expect(lines[1]).toBe('   12.3 s   matching')
  expect(lines[3]).toBe(
    `  ranked 5v5   ${'█'.repeat(13)}${'▓'.repeat(9)}${'░'.repeat(4)}${'·'.repeat(18)}    30 of 100, 60 here`,
  )
  expect(lines[4]).toBe(`  duel 1v1     ${'█'.repeat(44)}    10 of 10`)
  expect(lines).toContain('  9 matches found   5 servers ready   70 requests')
  expect(lines).toContain('  createDeployment 38/40 per s')
  expect(lines).toContain('  ranked, waiting for 4.2 s: Nobody else is near.')
})

test('the demo screen has the same height for any content', () => {
  const height = picture(progress, 0, false, PAPER).split('\n').length
  const { longest } = progress
  const why = `${'several words '.repeat(50)}${'x'.repeat(200)}`
  for (const other of [undefined, longest && { ...longest, why }]) {
    const lines = picture({ ...progress, longest: other, limits: [] }, 0, false, PAPER).split('\n')
    expect(lines).toHaveLength(height)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  }
})

test('the demo screen has colours only on a terminal that supports them', () => {
  const escape = String.fromCharCode(27)
  expect(picture(progress, 0, true, PAPER)).toContain(escape)
  expect(picture(progress, 0, false, PAPER)).not.toContain(escape)
})

const limits = [
  { name: 'listDeployments', limit: 10, peak: 10 },
  { name: 'createDeployment', limit: 40, peak: 40 },
  { name: 'status', limit: 20, peak: 20 },
]

test.each([
  [60, 20],
  [80, 24],
  [100, 15],
  [40, 10],
])('the demo screen fits a terminal of %i × %i', (columns, rows) => {
  const queues = Array.from({ length: 3 }, () => ({
    title: 'social 4–12',
    players: 42_000,
    arrived: 41_999,
    waiting: 9999,
    deploying: 900,
    playing: 31_000,
  }))
  const longest = { queue: 'ranked', waitedMs: 4210, why: 'several words '.repeat(50) }
  const lines = picture({ ...progress, queues, limits, longest }, 12_340, false, { columns, rows }).split('\n')
  expect(lines.length).toBeLessThan(rows)
  if (columns >= 60) expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
})

test('the rate limits are next to each other on a wide demo screen, and otherwise below each other', () => {
  const shown = (columns: number) =>
    picture({ ...progress, limits }, 0, false, { columns, rows: 50 })
      .split('\n')
      .filter((line) => line.includes('/'))
  expect(shown(100)).toEqual(['  listDeployments 10/10 per s   createDeployment 40/40 per s   status 20/20 per s'])
  expect(shown(60)).toEqual(['  listDeployments 10/10   createDeployment 40/40', '  status 20/20   per second'])
})
