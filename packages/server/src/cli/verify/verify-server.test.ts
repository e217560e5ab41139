/**
 * Runs `muster verify-server` with real processes on loopback: a correct server passes, and each fault is reported in
 * its own line.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Fault } from './by-hand.fixture.js'
import { type Shown, studio, verify } from './verifying.fixture.js'

const example = fileURLToPath(new URL('../../../../../examples/dist/game-server.js', import.meta.url))

/** Verifies a server that was written without the library and has this fault. */
async function linesOf(fault: Fault) {
  const { code, out } = await verify(studio(fault), '--json', '--', process.execPath, 'server.mjs')
  const { failed, lines } = JSON.parse(out) as Shown
  const of = (outcome: string) => lines.filter((line) => line.outcome === outcome)
  return { code, failed, failures: of('FAIL'), skipped: of('skip') }
}

const faults: readonly (readonly [Fault, readonly object[]])[] = [
  [
    'admits-forged-tokens',
    [
      {
        name: 'refuses a token that is signed by another key',
        expected: 'The server answers "ok":false to a token that is signed by another key.',
        came: '{"ok":true,"player":"ben"}',
        read: 'docs/servers.md, Who connects?',
      },
      { name: 'lets in the next player after that' },
    ],
  ],
  [
    'never-ends-a-match',
    [
      {
        name: 'reports a match that is over, and its players are free',
        expected: 'The server reports its match with the status "over" within 10 s.',
        came: expect.stringContaining('"status":"open"'),
        read: 'docs/servers.md, What a server reports',
      },
    ],
  ],
  [
    'ignores-drain',
    [
      {
        name: 'ends by itself once it is drained',
        expected: 'The server exits with code 0 within 10 s of an answer with "want":"stop" or the status 410.',
        came: 'the process still runs',
      },
    ],
  ],
  ['ignores-the-verifier', [{ name: 'asks MUSTER_VERIFY_URL what to do', came: 'no request' }]],
  [
    'sends-invalid-reports',
    [{ name: 'says that players may come', came: expect.stringMatching(/^Muster refuses .*400.*mood/) }],
  ],
]

// Each test mostly waits for its own processes.
describe.concurrent('muster verify-server', () => {
  test('muster verify-server finds no fault in the smallest example server', async () => {
    const folder = studio()
    const { code, out } = await verify(folder, '--junit', 'results.xml', '--', process.execPath, example)
    const lines = out.trimEnd().split('\n')
    expect(lines.filter((line) => !line.startsWith('ok   '))).toEqual([])
    const byLibrary = lines.filter((line) => line.endsWith(': answered by the library, not by your game'))
    expect(byLibrary.join('\n')).toContain('refuses a token that is signed by another key')
    expect(byLibrary.join('\n')).not.toContain('registers within')
    expect(lines[0]).toMatch(/^ok {3}registers within 30 s \(\d+\.\d s\)$/)
    expect(code).toBe(0)
    const xml = readFileSync(join(folder, 'results.xml'), 'utf8')
    expect(xml).toContain(`<testsuites name="muster verify-server" tests="${lines.length}" failures="0" errors="0">`)
  })

  test('verify-server finds no fault in a hand-written server, and skips features it does not offer', async () => {
    const { code, failed, failures, skipped } = await linesOf('none')
    expect(failures).toEqual([])
    expect(skipped).toMatchObject([
      { name: 'reports a result', why: 'the server reported no result' },
      { name: 'lets in who replaces a player who has left', why: 'the server never reports open seats' },
      { name: 'says after SIGTERM that it takes no match any more' },
    ])
    expect([code, failed]).toEqual([0, 0])
  })

  test.each(faults)(
    'muster verify-server reports a server with the fault %s on its own line',
    async (fault, expected) => {
      const { code, failed, failures } = await linesOf(fault)
      expect(failures).toMatchObject(expected)
      expect([code, failed]).toEqual([1, expected.length])
    },
  )

  test('verify-server skips the checks of invalid tokens if the server refuses a valid token, too', async () => {
    const { failures, skipped } = await linesOf('lets-none-in')
    expect(failures[0]).toMatchObject({ name: 'lets in who has a good token, and reports it' })
    const why = 'the check with a valid token failed, so this refusal proves nothing'
    const names = ['another key', 'an expired token', 'a token of another match']
    for (const name of names)
      expect(skipped).toContainEqual(expect.objectContaining({ name: expect.stringContaining(name), why }))
  })

  test('muster verify-server reports that a match ended too early to be verified', async () => {
    const { failures, skipped } = await linesOf('short')
    const came = expect.stringContaining('the match was over by then: it must last at least 20 s')
    expect(failures[0]).toMatchObject({ name: 'lets in the next player after that', came })
    const returns = { name: 'reports a player who may return as away', why: 'the match ended before this check' }
    expect(skipped).toContainEqual(expect.objectContaining(returns))
  })

  test('muster verify-server reports a program that does not start or ends at once', async () => {
    const folder = studio()
    const missing = await verify(folder, '--', 'no-such-program')
    const said = [
      'FAIL registers within 30 s',
      '     expected: The server sends POST /servers to MUSTER_URL.',
      '     came: the process has ended with exit code 127',
    ]
    expect(missing.out.split('\n').slice(0, 3)).toEqual(said)
    expect(missing.out).toContain('ENOENT')
    const broken = await verify(folder, '--', process.execPath, '-e', 'console.error("no map"); process.exit(3)')
    expect(broken.out).toContain('came: the process has ended with exit code 3\n       no map\n')
    expect([missing.code, broken.code]).toEqual([1, 1])
  })

  test('muster verify-server runs nothing without a command', async () => {
    const { code, err } = await verify(studio())
    expect([code, err]).toEqual([2, expect.stringContaining("missing required argument 'command'")])
  })
})
