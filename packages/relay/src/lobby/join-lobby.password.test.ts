import { expect, test } from 'vitest'
import { codeOf, failing, player, setUp } from './lobbies.fixture.js'
import { createDigests } from './join-lobby.js'

test('equal passwords and salts give equal digests in any Unicode form', async () => {
  const digestOf = createDigests()
  const [one, other] = await Promise.all([digestOf('caf\u00e9', 'salt'), digestOf('cafe\u0301', 'salt')])
  expect(one).toBe(other)
  expect(await digestOf('café', 'other salt')).not.toBe(one)
})

const unlimited = { joinsPerPlayer: null, joinsPerAddress: null, joinsOverall: null }

test('joins with a password beyond the limit are refused, and delay no join without a password', async () => {
  const { lobbies } = setUp({ limits: unlimited })
  const ann = player('ann')
  const guarded = await lobbies.create({ player: ann, maxPlayers: 8, password: 'sesame' })
  const open = await lobbies.create({ player: ann, maxPlayers: 8 })
  let hasEnded = false
  const crowd = Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      failing(lobbies.join({ player: player(`one-of-many-${index}`), code: guarded.code, password: 'guess' })),
    ),
  ).finally(() => {
    hasEnded = true
  })
  expect(await lobbies.join({ player: player('bob'), code: open.code })).toMatchObject({ status: 'joined' })
  expect(hasEnded).toBe(false)
  const codes = (await crowd).map(codeOf)
  // Two digests are computed at a time, and up to 256 wait.
  expect(codes.filter((code) => code === 'busy')).toHaveLength(42)
  expect(codes.filter((code) => code === 'not-joinable')).toHaveLength(258)
  const later = lobbies.join({ player: player('cas'), code: guarded.code, password: 'sesame' })
  expect(await later).toMatchObject({ status: 'joined' })
})

test('a player who is in too many lobbies is refused before a password digest is computed', async () => {
  const { lobbies } = setUp({ limits: { ...unlimited, lobbiesPerPlayer: 1 } })
  const guarded = await lobbies.create({ player: player('ann'), maxPlayers: 8, password: 'sesame' })
  await lobbies.create({ player: player('bob'), maxPlayers: 8 })
  const refusals = await Promise.all(
    Array.from({ length: 300 }, () =>
      failing(lobbies.join({ player: player('bob'), code: guarded.code, password: 'sesame' })),
    ),
  )
  expect(new Set(refusals.map(codeOf))).toEqual(new Set(['too-many-lobbies']))
})
