import { expect, test } from 'vitest'
import { codeOf, failing, player, setUp } from './lobbies.fixture.js'
import { createDigests } from './join-lobby.js'

test('equal passwords and salts give equal digests, whatever the Unicode form', async () => {
  const digestOf = createDigests()
  const [one, other] = await Promise.all([digestOf('caf\u00e9', 'salt'), digestOf('cafe\u0301', 'salt')])
  expect(one).toBe(other)
  expect(await digestOf('café', 'other salt')).not.toBe(one)
})

test('two digests are computed at once, 256 wait, and more are refused until there is room', async () => {
  const digestOf = createDigests()
  const refused: unknown[] = []
  const asked = Array.from({ length: 300 }, (_, index) =>
    digestOf('sesame', String(index)).catch((error: unknown) => void refused.push(codeOf(error))),
  )
  await Promise.resolve()
  await Promise.resolve()
  expect(refused).toEqual(Array(42).fill('busy'))
  const made = (await Promise.all(asked)).filter((digest) => digest !== undefined)
  expect(new Set(made).size).toBe(258)
  expect(await digestOf('sesame', '0')).toBe(made[0])
})

const unlimited = { joinsPerPlayer: null, joinsPerAddress: null, joinsOverall: null }

test('a crowd with passwords is partly refused without a charge, and delays nobody without a password', async () => {
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
  expect(codes.filter((code) => code === 'busy')).toHaveLength(42)
  expect(codes.filter((code) => code === 'not-joinable')).toHaveLength(258)
})

test('a player in too many lobbies costs no digest', async () => {
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
