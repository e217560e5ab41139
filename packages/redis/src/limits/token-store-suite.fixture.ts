import { expect, test } from 'vitest'
import { limitTimes, type TokenStore } from './token-store.js'

export interface StoreUnderTest {
  readonly store: TokenStore
  /** Lets `coldMs` pass. */
  warmUp(): Promise<void>
  /** Loses everything. */
  wipe(): Promise<void>
}

export const times = limitTimes(60_000)

/** The test suite for every token store. Less than 2 s of the store's time pass between two steps. */
export function testTokenStore(open: (limit: number) => Promise<StoreUnderTest>): void {
  const warm = async (limit: number) => {
    const { store, warmUp, ...rest } = await open(limit)
    await store.take('first')
    await warmUp()
    return { store, warmUp, ...rest }
  }
  /** True if `actual` is `ms`, less up to 2 s that may have passed. */
  const isAbout = (actual: number, ms: number) => actual <= ms && actual > ms - 2000
  const granted = async (store: TokenStore, ...ids: string[]) => {
    const answers: boolean[] = []
    for (const id of ids) answers.push((await store.take(id)).granted)
    return answers
  }

  test('the rate-limit token store considers all tokens in use when it starts', async () => {
    const { store } = await open(3)
    const answer = await store.take('a')
    expect(answer).toEqual({ granted: false, waitMs: times.aheadMs, free: 0, rate: 3 })
  })

  test('the rate-limit token store considers all tokens in use when it has lost its data', async () => {
    const { store, wipe } = await warm(3)
    expect(await granted(store, 'a')).toEqual([true])
    await wipe()
    expect(await granted(store, 'b')).toEqual([false])
  })

  test('the rate-limit token store grants as many tokens as the limit, and then none', async () => {
    const { store } = await warm(3)
    expect(await store.take('a')).toEqual({ granted: true, waitMs: 0, free: 2, rate: 3 })
    expect(await granted(store, 'b', 'c', 'd')).toEqual([true, true, false])
  })

  test('the rate-limit token store grants a token that returns soon with a wait, to one process only', async () => {
    const { store } = await warm(2)
    expect(await granted(store, 'a', 'b', 'c')).toEqual([true, true, false])
    await store.unused('a', 900)
    const promised = await store.take('c')
    expect(promised.granted).toBe(true)
    expect(isAbout(promised.waitMs, 900)).toBe(true)
    expect(await granted(store, 'd')).toEqual([false])
  })

  test('the rate-limit token store grants an unused token to the next process immediately', async () => {
    const { store } = await warm(1)
    expect(await granted(store, 'a', 'b')).toEqual([true, false])
    await store.unused('a', 0)
    expect(await granted(store, 'b', 'c')).toEqual([true, false])
  })

  test('a counted rate-limit token returns within the window, and never later than planned', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.unused('a', 500)
    await store.counted(['a'])
    const promised = await store.take('b')
    expect(isAbout(promised.waitMs, 500)).toBe(true)
  })

  test('the rate-limit token store keeps an unused token taken if its process asks to keep the token', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.unused('a', 500)
    await store.keep(['a'])
    expect(await granted(store, 'b')).toEqual([false])
  })

  test('the rate-limit token store marks a token that it had lost as in use again', async () => {
    const { store, wipe, warmUp } = await warm(2)
    await store.take('a')
    await wipe()
    await store.take('b')
    await store.keep(['a'])
    await warmUp()
    await store.keep(['a'])
    expect(await granted(store, 'c', 'd')).toEqual([true, false])
  })

  test('the rate-limit token store can move the return of a token to an earlier time', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.keep(['a'])
    await store.settle(['a'])
    await store.unused('a', times.settleMs + times.windowMs + 10_000)
    await store.unused('a', 100)
    expect(await granted(store, 'b')).toEqual([true])
  })

  test('the rate-limit token store ignores reports about tokens that have already returned', async () => {
    const { store } = await warm(1)
    await store.counted(['x'])
    await store.settle(['y'])
    await store.unused('z', 5000)
    expect(await granted(store, 'a', 'b')).toEqual([true, false])
  })

  test('the rate-limit token store grants nothing in a pause, and returns how long it lasts', async () => {
    const { store } = await warm(10)
    await store.refused(30_000)
    await store.refused(5000)
    const answer = await store.take('a')
    expect(answer).toMatchObject({ granted: false, free: 0 })
    expect(isAbout(answer.waitMs, 30_000)).toBe(true)
  })

  test('the rate-limit token store lowers the rate to 70 % on a 429, once for all requests in flight', async () => {
    const { store } = await warm(10)
    await store.refused(0)
    await store.refused(0)
    expect(await store.take('a')).toMatchObject({ granted: true, rate: 7, free: 6 })
    expect(await granted(store, 'b', 'c', 'd', 'e', 'f', 'g', 'h')).toEqual([...Array(6).fill(true), false])
  })

  test('the rate-limit token store lowers the rate at most to a tenth, and never below one request', async () => {
    const { store } = await warm(1)
    await store.refused(0)
    expect(await store.take('a')).toMatchObject({ granted: true, rate: 1 })
  })

  test('the rate-limit token store considers all tokens in use after a reset', async () => {
    const { store } = await warm(2)
    await store.reset()
    expect(await granted(store, 'a')).toEqual([false])
  })
}
