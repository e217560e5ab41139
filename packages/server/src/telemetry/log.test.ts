import { createManualClock } from '@muster/core/clock'
import { describe, expect, test, vi } from 'vitest'
import { createLog, createProblemLog, logEvents, type LogOptions } from './log.js'

function setUp(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line), ...options })
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('a log line', () => {
  test('a log line is an object with time, level, text and fields', () => {
    const { log, parsed } = setUp()
    log.info('listening', { url: 'http://localhost:8080', queues: ['duel'], limit: undefined })
    const [line] = parsed()
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      text: 'listening',
      url: 'http://localhost:8080',
      queues: ['duel'],
    })
  })

  test('a log line contains no foreign address and no secret', () => {
    const { log, lines } = setUp({ secrets: () => ['sesame-0815'] })
    log.error('refused sesame-0815 of 192.0.2.7', { from: '2001:db8::7', key: 'a sesame-0815', all: ['192.0.2.8'] })
    expect(lines.join('')).not.toMatch(/sesame|192\.0\.2|2001:db8/)
    expect(lines.join('')).toContain('refused [redacted] of [address]')
  })

  test('a log line may contain the addresses of this machine, with their ports', () => {
    const { log, parsed } = setUp()
    log.info('at 127.0.0.1:8080 and [::1]:80', { url: 'http://127.0.0.1:8080', other: '192.0.2.7:8080' })
    expect(parsed()[0]).toMatchObject({
      text: 'at 127.0.0.1:8080 and [::1]:80',
      url: 'http://127.0.0.1:8080',
      other: '[address]:8080',
    })
  })

  test('a log line below the log level is omitted, and the level can change', () => {
    const { log, parsed } = setUp({ level: 'warn' })
    log.info('no')
    log.setLevel('info')
    log.info('yes')
    log.setLevel('silent')
    log.error('no')
    expect(parsed().map(({ text }) => text)).toEqual(['yes'])
  })

  test('a log line in text format is one line, in which no value can look like another field', () => {
    const { log, lines } = setUp({ format: 'text' })
    log.warn('two\nlines', { queue: 'duel', name: 'x level=error\n12:00:00 error broken', port: 8080 })
    expect(lines).toHaveLength(1)
    expect(lines[0]?.slice('12:00:00'.length)).toBe(
      ' warn  "two\\nlines"  queue=duel  name="x level=error\\n12:00:00 error broken"  port=8080\n',
    )
  })
})

test('a log line after one that a full disk has cut begins on a new line', () => {
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    written.push(String(text))
    const [done] = rest as unknown as [((error?: Error) => void)?]
    done?.(String(text).includes('lost') ? new Error('no space left') : undefined)
    return true
  })
  try {
    const log = createLog({ level: 'info', format: 'json' })
    for (const text of ['first', 'lost', 'next', 'last']) log.info(text)
  } finally {
    write.mockRestore()
  }
  expect(written.map((text) => text.startsWith('\n'))).toEqual([false, false, true, false])
})

test('stopped servers without a match are logged as one line with a count', async () => {
  const clock = createManualClock()
  const { log, parsed } = setUp()
  const problems = createProblemLog(log, clock)
  let reaped: (event: { requestId: string }) => void = () => {}
  const on = (name: string, listener: never) => {
    if (name === 'orphanStopped') reaped = listener
    return () => {}
  }
  logEvents(on as Parameters<typeof logEvents>[0], log, problems)
  for (let nth = 0; nth < 700; nth += 1) reaped({ requestId: `r${nth}` })
  await problems.close()
  expect(parsed().map(({ text }) => text)).toEqual([
    'A server that belonged to no match was stopped.',
    'A server that belonged to no match was stopped (699 more times)',
  ])
})

test('the loss of a game server is logged as a problem, and all other events of servers at level debug', () => {
  const { log, parsed } = setUp({ level: 'debug' })
  const listeners = new Map<string, (event: object) => void>()
  const on = (name: string, listener: never) => {
    listeners.set(name, listener)
    return () => {}
  }
  logEvents(on as Parameters<typeof logEvents>[0], log, createProblemLog(log, createManualClock()))
  const server = { serverId: 's1', pool: 'arena', requestId: 'r1' }
  const match = { ...server, matchId: 'm1', queue: 'duel' }
  listeners.get('serverRegistered')?.({ ...server, build: '7', matches: 1 })
  listeners.get('serverTaken')?.({ ...match, warm: true })
  listeners.get('serverFreed')?.({ ...match, reason: 'over' })
  listeners.get('serverDraining')?.({ ...server, reason: 'surplus' })
  listeners.get('serverLost')?.({ ...server, silentMs: 25_400 })
  listeners.get('serverReturned')?.({ ...server, silentMs: 30_000 })
  expect(parsed()).toMatchObject([
    { level: 'debug', text: 'game server registered', ...server, build: '7' },
    { level: 'debug', text: 'game server taken', matchId: 'm1', serverId: 's1', warm: true },
    { level: 'debug', text: 'game server freed', matchId: 'm1', reason: 'over' },
    { level: 'debug', text: 'game server drains', ...server, reason: 'surplus' },
    { level: 'warn', text: 'A game server was silent for 25 s. Its status is read.', during: 'server', ...server },
    { level: 'info', text: 'game server reports again', serverId: 's1', requestId: 'r1' },
  ])
})

describe('problems in the log', () => {
  test('problems of one kind are combined into a log line with a count', async () => {
    const clock = createManualClock()
    const { log, parsed } = setUp()
    const problems = createProblemLog(log, clock)
    for (let time = 0; time < 1000; time += 1) problems.report('create', new Error(`no capacity for m${time}-a`))
    problems.report('stop', new TypeError('broken'))
    expect(parsed()).toMatchObject([
      { text: 'no capacity for m0-a', during: 'create' },
      { text: 'TypeError: broken', during: 'stop' },
    ])
    await clock.advance(10_000)
    expect(parsed().slice(2)).toMatchObject([{ text: 'no capacity for m0-a (999 more times)', during: 'create' }])
    problems.report('create', new Error('no capacity for m7-a'))
    expect(parsed()).toHaveLength(4)
    await problems.close()
  })

  test('equal problems of two sources of servers are two log lines, each with its source', async () => {
    const { log, parsed } = setUp()
    const problems = createProblemLog(log, createManualClock())
    let problem: (event: object) => void = () => {}
    const on = (name: string, listener: never) => {
      if (name === 'problem') problem = listener
      return () => {}
    }
    logEvents(on as Parameters<typeof logEvents>[0], log, problems)
    for (const source of ['metal', 'cloud', 'metal', undefined])
      problem({ during: 'create', error: new Error('allocate: status 401'), source })
    await problems.close()
    expect(parsed().map(({ text, source }) => [text, source])).toEqual([
      ['allocate: status 401', 'metal'],
      ['allocate: status 401', 'cloud'],
      ['allocate: status 401', undefined],
      ['allocate: status 401 (1 more times)', 'metal'],
    ])
  })

  test('logged problems are of one kind if only ids and numbers differ in their first 500 characters', async () => {
    const { log, parsed } = setUp()
    const problems = createProblemLog(log, createManualClock())
    // A word with this many hyphens took time in proportion to the square of its length.
    for (let time = 0; time < 20; time += 1) problems.report('rule', new Error(`${'-'.repeat(200_000)}${time}`))
    problems.report('rule', new Error('no-7 of it'))
    problems.report('rule', new Error('8-no of it'))
    await problems.close()
    const begins = parsed().map(({ text }) => String(text).slice(0, 10))
    expect(begins).toEqual(['----------', 'no-7 of it', '----------', 'no-7 of it'])
  })

  test('logged problems are limited in the number of kinds', async () => {
    const clock = createManualClock()
    const { log, parsed } = setUp()
    const problems = createProblemLog(log, clock)
    for (let kind = 0; kind < 500; kind += 1) problems.report('create', new Error(`failed with ${'x'.repeat(kind)}`))
    await problems.close()
    expect(parsed()).toHaveLength(51)
    expect(parsed().at(-1)).toMatchObject({ text: '450 other problems occurred; they are not listed.' })
  })
})
