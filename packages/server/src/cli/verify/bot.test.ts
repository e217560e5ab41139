import { expect, test } from 'vitest'
import { wordsOf } from './bot.js'
import type { Fault } from './by-hand.fixture.js'
import { type Shown, studio, verify } from './verifying.fixture.js'

test.concurrent.each<readonly [Fault, readonly string[]]>([
  ['none', []],
  [
    'lets-all-in',
    [
      'refuses a token that is signed by another key',
      'refuses a token without a signature',
      'refuses an expired token',
      'refuses a token of another server',
      'refuses a token of another match',
      'refuses a token that was used',
    ],
  ],
])(
  'with --client the game is met by its client, which finds of the fault %s what is wrong',
  { timeout: 180_000 },
  async (fault, wrong) => {
    const client = `"${process.execPath}" bot.mjs`
    const { out } = await verify(studio(fault), '--json', '--client', client, '--', process.execPath, 'server.mjs')
    const { lines } = JSON.parse(out) as Shown
    const names = (outcome: string) => lines.filter((line) => line.outcome === outcome).map(({ name }) => name)
    expect(names('FAIL')).toEqual(expect.arrayContaining([...wrong]))
    if (wrong.length === 0) expect(names('FAIL')).toEqual([])
    expect(names('ok')).toContain('lets in who has a good token, and reports it')
    expect(out).not.toContain('answered by the library')
  },
)

test('the words of a client’s command may be quoted', () => {
  expect(wordsOf(`node "my bot.js" --name 'a b' x`)).toEqual(['node', 'my bot.js', '--name', 'a b', 'x'])
})
