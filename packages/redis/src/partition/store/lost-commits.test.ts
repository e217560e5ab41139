import { expect, test } from 'vitest'
import { describeRedis, openRedis } from '../../redis.fixture.js'
import { LeaseLost } from '../partition-errors.js'
import { partitionKeys } from './partition-keys.js'
import { createRedisStore } from './redis-store.js'

const LEASE_MS = 60_000

/** Two processes over a Redis that has lost the last of three commits. The other process knows the first one only. */
async function open() {
  const { connect, close } = await openRedis()
  const redis = await connect()
  const [store, other] = [redis, await connect()].map((one) => createRedisStore({ redis: one, name: 'eu' }))
  if (store === undefined || other === undefined) throw new Error('there are two processes')
  const acquire = async (by: typeof store) => {
    const acquired = await by.acquire(by === store ? 'one' : 'other', LEASE_MS)
    return acquired.kind === 'acquired' ? acquired.token : ''
  }
  const token = await acquire(store)
  const commit = (by = store, as = token) => by.commit(as, { notes: [{ key: 'note', text: 'text' }] })
  await commit()
  expect(await other.hasGoneBack()).toBe(false)
  for (let nth = 0; nth < 2; nth += 1) await commit()
  const { inForce } = partitionKeys(redis.keys('eu'))
  await redis.command(inForce, ['HSET', inForce, 'done', `2 ${token}`])
  return { store, other, token, acquire, commit, close }
}

describeRedis('a Redis that has lost a commit which the next leader did not know', () => {
  test.each(['commit', 'renewal'])('the next leader notices the loss after the refused %s', async (kind) => {
    const { store, other, token, acquire, commit, close } = await open()
    if (kind === 'commit') await expect(commit()).rejects.toThrow(LeaseLost)
    else expect(await store.renew(token, LEASE_MS)).toBe(false)
    await store.release(token)
    const next = await acquire(other)
    expect(await other.hasGoneBack()).toBe(true)
    await commit(other, next)
    expect([await other.hasGoneBack(), await store.hasGoneBack(), await store.hasGoneBack()]).toEqual([
      false,
      true,
      false,
    ])
    await close()
  })
})
