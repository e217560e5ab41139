import { expect, test } from 'vitest'
import { TooManyRelaySessions } from '../errors.js'
import { dora, failing, players, setUp } from './sessions.fixture.js'

test('a player can host a limited number of relay sessions at a time, including those being created', async () => {
  const { sessions, within } = setUp({ sessionsPerHost: 3 })
  const all = await within(
    Promise.all(Array.from({ length: 5 }, () => sessions.open({ players }).catch((error: unknown) => error))),
  )
  expect(all.filter((one) => one instanceof TooManyRelaySessions)).toHaveLength(2)
  expect(await failing(sessions.create({ players }))).toMatchObject({ name: 'TooManyRelaySessions', limit: 3 })
  await within(sessions.open({ players, hostId: 'bob' }))
  const [first] = all as { readonly id: string }[]
  await sessions.delete(first?.id ?? '')
  await within(sessions.open({ players }))
  await within(sessions.close())
})

test('the limit of relay sessions per host is 10 by default, and can be turned off', async () => {
  const { sessions, within } = setUp()
  for (let count = 0; count < 10; count += 1) await within(sessions.create({ players: [dora] }))
  expect(await failing(sessions.create({ players: [dora] }))).toBeInstanceOf(TooManyRelaySessions)
  const unlimited = setUp({ sessionsPerHost: null })
  for (let count = 0; count < 30; count += 1) await unlimited.within(unlimited.sessions.create({ players: [dora] }))
  await within(sessions.close())
  await unlimited.within(unlimited.sessions.close())
})
