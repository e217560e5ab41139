import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ConnectionBounds, type ConnectionsOptions, createConnections, levelFor } from './connections.js'

function crowd({ most = 10, ...options }: Partial<ConnectionsOptions<string> & ConnectionBounds> = {}) {
  const perAddress = 'perAddress' in options ? options.perAddress : 100
  const clock = createManualClock()
  const ended: string[] = []
  const told: number[] = []
  const connections = createConnections<string>({
    bounds: () => ({ most, perAddress }),
    beyond: 0,
    end: (socket) => ended.push(socket),
    onCrowded: ({ refused }) => told.push(refused),
    freshMs: 0,
    clock,
    ...options,
  })
  /** Opens connections `a1`, `a2` … from an address, one per millisecond. */
  const open = async (address: string, name: string, count: number) => {
    const taken: boolean[] = []
    for (let index = 1; index <= count; index += 1) {
      taken.push(connections.open(`${name}${index}`, address))
      await clock.advance(1)
    }
    return taken
  }
  return { clock, connections, ended, told, open }
}

describe('a connection beyond the limit of all connections', () => {
  test('a connection beyond the limit is accepted, and the busiest address loses its idlest connection', async () => {
    const { connections, ended, open } = crowd()
    await open('192.0.2.1', 'a', 7)
    await open('192.0.2.2', 'b', 3)
    expect(await open('192.0.2.3', 'c', 1)).toEqual([true])
    expect(ended).toEqual(['a1'])
    expect(connections.counts()).toMatchObject({ open: 10, largest: 6, idleEnded: 1, refused: 0 })
  })

  test('a connection beyond the limit ends an idle connection, not a connection with an open request', async () => {
    const { connections, ended, open } = crowd()
    await open('192.0.2.1', 'a', 10)
    connections.begin('a1')
    const answered = connections.begin('a2')
    answered()
    await open('192.0.2.3', 'c', 1)
    expect(ended).toEqual(['a3'])
  })

  test('a connection beyond the limit ends a busy connection of an address that has more connections', async () => {
    const { connections, ended, open } = crowd()
    await open('192.0.2.1', 'a', 10)
    for (let index = 1; index <= 10; index += 1) connections.begin(`a${index}`)
    expect(await open('192.0.2.3', 'c', 1)).toEqual([true])
    expect(ended).toEqual(['a6', 'a7', 'a8', 'a9', 'a10'])
    expect(connections.counts().busyEnded).toBe(5)
  })

  test('behind a proxy, a few connections beyond the limit are accepted, and end no busy connection', async () => {
    const { connections, ended, open, told } = crowd({ perAddress: undefined, beyond: 2 })
    await open('192.0.2.1', 'a', 10)
    for (let index = 1; index <= 10; index += 1) connections.begin(`a${index}`)
    expect(await open('192.0.2.1', 'c', 1)).toEqual([true])
    connections.begin('c1')
    expect(connections.isBeyond('c1')).toBe(true)
    expect(await open('192.0.2.1', 'd', 2)).toEqual([true, false])
    expect([ended, connections.counts().refused, told]).toEqual([[], 1, [0]])
    connections.closed('a1')
    connections.closed('a2')
    expect(connections.isBeyond('c1')).toBe(false)
  })

  test('a connection that has just been opened does not count as idle', async () => {
    const { clock, ended, open, connections } = crowd({ freshMs: 1000 })
    await open('192.0.2.1', 'a', 6)
    await open('192.0.2.2', 'b', 4)
    await clock.advance(993) // a1 to a3 are a second old
    expect(await open('192.0.2.3', 'c', 1)).toEqual([true])
    expect(ended).toEqual(['a1'])
    expect(connections.counts().busyEnded).toBe(0)
  })
})

describe('the share of connections', () => {
  test('an address keeps to its share: its longest idle connection ends, or the new one is refused', async () => {
    const { connections, ended, open, told } = crowd({ most: 100, perAddress: 3 })
    expect(await open('192.0.2.1', 'a', 4)).toEqual([true, true, true, true])
    expect(ended).toEqual(['a1'])
    for (const socket of ['a2', 'a3', 'a4']) connections.begin(socket)
    expect(await open('192.0.2.1', 'b', 1)).toEqual([false])
    expect(await open('192.0.2.2', 'c', 1)).toEqual([true])
    expect(told).toEqual([0])
  })

  test('an IPv6 /64 has one connection share, a /56 two shares and a /48 four shares in all', async () => {
    const { connections, open } = crowd({ most: 1000, perAddress: 3, freshMs: 1e9 })
    const taken = async (address: string) => (await open(address, address, 5)).filter(Boolean).length
    expect(await taken('2001:db8:1:100::1')).toBe(3)
    expect(await taken('2001:db8:1:100::2')).toBe(0)
    expect(await taken('2001:db8:1:101::1')).toBe(3)
    expect(await taken('2001:db8:1:102::1')).toBe(0)
    expect(await taken('2001:db8:1:200::1')).toBe(3)
    expect(await taken('2001:db8:1:300::1')).toBe(3)
    expect(await taken('2001:db8:1:400::1')).toBe(0)
    expect(await taken('2001:db8:2::1')).toBe(3)
    expect(connections.counts().largest).toBe(12)
  })
})

test('changed limits of connections apply to the next connection', async () => {
  let perAddress: number | undefined = 1
  const { connections, ended, open } = crowd({ bounds: () => ({ most: 100, perAddress }), freshMs: 1e9 })
  expect(await open('192.0.2.1', 'a', 2)).toEqual([true, false])
  perAddress = undefined
  expect(await open('192.0.2.1', 'b', 2)).toEqual([true, true])
  perAddress = 3
  expect(await open('192.0.2.1', 'c', 1)).toEqual([false])
  expect(ended).toEqual([])
  expect(connections.counts().open).toBe(3)
})

test('ended connections are forgotten, and reported at most every ten seconds', async () => {
  const { clock, connections, open, told } = crowd({ most: 2, perAddress: undefined, freshMs: 1e9 })
  expect(await open('a', 'a', 4)).toEqual([true, true, false, false])
  connections.closed('a1')
  expect(await open('a', 'b', 2)).toEqual([true, false])
  expect(told).toEqual([1])
  await clock.advance(10_000)
  await open('a', 'c', 1)
  expect(told).toEqual([1, 4])
})

test('a new address always gets and keeps a connection, however 30 other addresses open theirs (property)', () => {
  const step = fc.record({ address: fc.integer({ min: 1, max: 30 }), busy: fc.boolean(), close: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 400, size: 'max' }), (steps) => {
      let now = 0
      const { connections, ended } = crowd({
        most: 60,
        perAddress: 20,
        beyond: 2,
        clock: { now: () => now, sleep: async () => {} },
      })
      for (const [index, { address, busy, close }] of steps.entries()) {
        const socket = `attacker-${index}`
        if (connections.open(socket, `192.0.2.${address}`) && busy) connections.begin(socket)
        if (close) connections.closed(`attacker-${index - 1}`)
        now += 1
        if (index % 7 !== 6) continue
        expect(connections.open(`player-${index}`, '198.51.100.1')).toBe(true)
        expect(connections.counts().open).toBeLessThanOrEqual(62)
        connections.closed(`player-${index}`)
      }
      expect(ended.filter((socket) => socket.startsWith('player'))).toEqual([])
    }),
  )
})

test('beyond the limit, addresses with the most connections lose some first, no more than needed (property)', () => {
  const holding = fc
    .record({ held: fc.nat(50), part: fc.nat(100) })
    .map(({ held, part }) => ({ held, free: Math.floor((held * part) / 100) }))
  fc.assert(
    fc.property(fc.array(holding, { maxLength: 20 }), fc.nat(200), (holdings, need) => {
      const freedAt = (level: number) =>
        holdings.reduce((sum, { held, free }) => sum + Math.min(free, Math.max(0, held - level)), 0)
      const level = levelFor(holdings, need)
      const possible = holdings.reduce((sum, { free }) => sum + free, 0)
      if (possible >= need) expect(freedAt(level)).toBeGreaterThanOrEqual(need)
      else expect(level).toBe(0)
      if (need > 0) expect(freedAt(level + 1)).toBeLessThan(need)
    }),
  )
})
