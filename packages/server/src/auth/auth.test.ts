import { createManualClock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { createAuth, type AuthOptions } from './auth.js'
import { signShared } from './jwks.fixture.js'

const SECRET = 'a-secret-of-at-least-32-characters'
const NOW = 1_700_000_000_000

const options: AuthOptions = {
  jwt: { secret: SECRET, claims: { id: 'sub', role: 'role', attributes: { skill: 'mmr' } } },
  keys: [
    { name: 'game-backend', role: 'backend', key: 'key-1' },
    { name: 'game-backend', role: 'backend', key: 'key-2' },
    { name: 'support', role: 'look', key: 'key-3' },
    { name: 'live-ops', role: 'operate', key: 'key-4' },
  ],
  shared: { token: 'everyone', key: SECRET },
  devToken: 'dev-secret',
}

function setUp(given: AuthOptions = options) {
  const auth = createAuth(given, { clock: createManualClock({ start: NOW }), onProblem: () => {} })
  const request = (token: string) =>
    new Request('http://localhost/', token === '' ? {} : { headers: { authorization: `Bearer ${token}` } })
  const outcome = async (ask: () => unknown) => {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof Problem) return `${error.status} ${error.code}`
      throw error
    }
  }
  return async (token: string) => ({
    tickets: await outcome(() => auth.tickets(request(token), {})),
    lobbies: await outcome(() => auth.lobbies(request(token), {})),
    console: await outcome(() => auth.operatorOf(request(token))),
  })
}

describe('the permissions of a token', () => {
  const nobody = { tickets: undefined, lobbies: undefined, console: undefined }

  test.each([
    ['', nobody],
    ['unknown', nobody],
    ['key-', nobody],
    ['dev-secret:', nobody],
    ['dev-secreT', nobody],
    ['dev-secreT:ann', nobody],
    ['key-1', { tickets: { id: 'game-backend', role: 'backend' }, lobbies: '403 wrong-role', console: undefined }],
    ['key-2', { tickets: { id: 'game-backend', role: 'backend' }, lobbies: '403 wrong-role', console: undefined }],
    ['key-3', { tickets: '403 wrong-role', lobbies: '403 wrong-role', console: { who: 'support', role: 'look' } }],
    ['key-4', { tickets: '403 wrong-role', lobbies: '403 wrong-role', console: { who: 'live-ops', role: 'operate' } }],
    [
      'dev-secret',
      { tickets: { id: 'dev', role: 'backend' }, lobbies: '403 wrong-role', console: { who: 'dev', role: 'deploy' } },
    ],
    ['dev-secret:ann', { tickets: { id: 'ann' }, lobbies: { id: 'ann' }, console: undefined }],
    ['everyone', { tickets: { id: 'shared', sharedKey: SECRET }, lobbies: '403 shared-token', console: undefined }],
    ['everyon', nobody],
    ['dev-secret:a:b', { tickets: { id: 'a:b' }, lobbies: { id: 'a:b' }, console: undefined }],
  ])('the token %j has the permissions of its key', async (token, expected) => {
    expect(await setUp()(token)).toEqual(expected)
  })

  test('a JWT has the permissions of its role', async () => {
    const ask = setUp()
    const sign = (claims: object) => signShared({ ...claims }, SECRET, NOW / 1000 + 60)
    expect(await ask(await sign({ sub: 'ann', mmr: 7 }))).toEqual({
      tickets: { id: 'ann', profile: { attributes: { skill: 7 } } },
      lobbies: { id: 'ann' },
      console: undefined,
    })
    expect(await ask(await sign({ sub: 'eve', role: 'look' }))).toEqual({
      tickets: '403 wrong-role',
      lobbies: '403 wrong-role',
      console: { who: 'eve', role: 'look' },
    })
  })
})

test('without any configured authentication every caller is unknown', async () => {
  expect(await setUp({})('key-1')).toEqual({ tickets: undefined, lobbies: undefined, console: undefined })
})
