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

/** What holds for every store of tokens. Between two steps pass less than 2 s of the store's time. */
export function testTokenStore(open: (limit: number) => Promise<StoreUnderTest>): void {
  const warm = async (limit: number) => {
    const { store, warmUp, ...rest } = await open(limit)
    await store.take('first')
    await warmUp()
    return { store, warmUp, ...rest }
  }
  /** Whether it is `ms`, of which up to 2 s may have passed. */
  const isAbout = (actual: number, ms: number) => actual <= ms && actual > ms - 2000
  const granted = async (store: TokenStore, ...ids: string[]) => {
    const answers: boolean[] = []
    for (const id of ids) answers.push((await store.take(id)).granted)
    return answers
  }

  test('takes every token as out when it begins', async () => {
    const { store } = await open(3)
    const answer = await store.take('a')
    expect(answer).toEqual({ granted: false, waitMs: times.aheadMs, free: 0, rate: 3 })
  })

  test('takes every token as out when it has lost all', async () => {
    const { store, wipe } = await warm(3)
    expect(await granted(store, 'a')).toEqual([true])
    await wipe()
    expect(await granted(store, 'b')).toEqual([false])
  })

  test('gives as many tokens as the limit, and then none', async () => {
    const { store } = await warm(3)
    expect(await store.take('a')).toEqual({ granted: true, waitMs: 0, free: 2, rate: 3 })
    expect(await granted(store, 'b', 'c', 'd')).toEqual([true, true, false])
  })

  test('promises a token that comes back soon, once', async () => {
    const { store } = await warm(2)
    expect(await granted(store, 'a', 'b', 'c')).toEqual([true, true, false])
    await store.unused('a', 900)
    const promised = await store.take('c')
    expect(promised.granted).toBe(true)
    expect(isAbout(promised.waitMs, 900)).toBe(true)
    expect(await granted(store, 'd')).toEqual([false])
  })

  test('gives back what was not used at once', async () => {
    const { store } = await warm(1)
    expect(await granted(store, 'a', 'b')).toEqual([true, false])
    await store.unused('a', 0)
    expect(await granted(store, 'b', 'c')).toEqual([true, false])
  })

  test('brings a counted token back within the window, and never later than it was', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.unused('a', 500)
    await store.counted(['a'])
    const promised = await store.take('b')
    expect(isAbout(promised.waitMs, 500)).toBe(true)
  })

  test('keeps a token out for longer, and never for less', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.unused('a', 500)
    await store.keep(['a'])
    expect(await granted(store, 'b')).toEqual([false])
  })

  test('keeps one out that it has lost', async () => {
    const { store, wipe, warmUp } = await warm(2)
    await store.take('a')
    await wipe()
    await store.take('b')
    await store.keep(['a'])
    await warmUp()
    await store.keep(['a'])
    expect(await granted(store, 'c', 'd')).toEqual([true, false])
  })

  test('settles a token to an earlier time', async () => {
    const { store } = await warm(1)
    await store.take('a')
    await store.keep(['a'])
    await store.settle(['a'])
    await store.unused('a', times.settleMs + times.windowMs + 10_000)
    await store.unused('a', 100)
    expect(await granted(store, 'b')).toEqual([true])
  })

  test('what is said of tokens that are back changes nothing', async () => {
    const { store } = await warm(1)
    await store.counted(['x'])
    await store.settle(['y'])
    await store.unused('z', 5000)
    expect(await granted(store, 'a', 'b')).toEqual([true, false])
  })

  test('gives nothing in a pause, and tells how long it is', async () => {
    const { store } = await warm(10)
    await store.refused(30_000)
    await store.refused(5000)
    const answer = await store.take('a')
    expect(answer).toMatchObject({ granted: false, free: 0 })
    expect(isAbout(answer.waitMs, 30_000)).toBe(true)
  })

  test('a refusal leaves 70 % of the rate, and those under way together count once', async () => {
    const { store } = await warm(10)
    await store.refused(0)
    await store.refused(0)
    expect(await store.take('a')).toMatchObject({ granted: true, rate: 7, free: 6 })
    expect(await granted(store, 'b', 'c', 'd', 'e', 'f', 'g', 'h')).toEqual([...Array(6).fill(true), false])
  })

  test('a tenth of the rate remains, and one request at least', async () => {
    const { store } = await warm(1)
    await store.refused(0)
    expect(await store.take('a')).toMatchObject({ granted: true, rate: 1 })
  })

  test('marks every token as out on request', async () => {
    const { store } = await warm(2)
    await store.reset()
    expect(await granted(store, 'a')).toEqual([false])
  })
}
