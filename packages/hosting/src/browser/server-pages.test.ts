import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Unavailable } from '../errors.js'
import { browserSchema } from './browser-definition.js'
import { createListedServers, createServerList, type ListedServer } from './listed-servers.js'
import { createServerReader, type PageChange } from './live-pages.js'
import { type PingOf, readFilter } from './server-filter.js'
import { pageOf, readQuery, type ReadQuery, type ServerQuery } from './server-pages.js'
import { createServerTable } from './server-table.js'

const browser = browserSchema.parse({
  attributes: {
    mode: { type: 'string', values: ['ctf', 'dm'] },
    rank: { type: 'number' },
    ranked: { type: 'boolean' },
  },
})

const server = (given: Partial<ListedServer> & { id: string }): ListedServer => ({
  name: `World ${given.id}`,
  pool: 'arena',
  build: '7',
  place: undefined,
  attributes: {},
  isOpen: true,
  hasPassword: false,
  seats: { total: 8, free: 8, held: 0, taken: 0, away: 0 },
  teams: [],
  ...given,
})
const filled = (id: string, taken: number, more: Partial<ListedServer> = {}) =>
  server({ id, seats: { total: 8, free: 8 - taken, held: 0, taken, away: 0 }, ...more })

const noPing = () => undefined
const query = (given: ServerQuery): ReadQuery => {
  const read = readQuery(browser, given)
  if ('message' in read) throw new Error(`${read.field}, ${read.column}: ${read.message}`)
  return read
}
const ids = (servers: readonly ListedServer[], given: ServerQuery) =>
  pageOf(servers, query(given), noPing).servers.map(({ id }) => id)

describe('a filter of the server list', () => {
  const servers = [
    filled('a', 2, { attributes: { mode: 'ctf', rank: 3, ranked: true }, name: 'Night CTF' }),
    filled('b', 8, { attributes: { mode: 'dm', rank: 5 }, build: '8' }),
    filled('c', 0, { attributes: { mode: 'ctf', rank: 'high' }, hasPassword: true }),
  ]
  test.each([
    ['mode eq ctf', ['a', 'c']],
    ['mode ne ctf', ['b']],
    ['mode in ctf,dm', ['a', 'b', 'c']],
    ['seats.free ge 6', ['a', 'c']],
    ['seats.free lt 6', ['b']],
    ['seats.taken gt 0', ['a', 'b']],
    ['seats.taken le 2', ['a', 'c']],
    // An attribute with another type than the declared one counts as absent.
    ['rank ge 0', ['a', 'b']],
    ['ranked eq true', ['a']],
    ['password eq false', ['a', 'b']],
    ['build eq 8', ['b']],
    ['name contains ctf', ['a']],
    ['  seats.total   eq   8  ', ['a', 'b', 'c']],
  ])('a filter of the server list selects the matching servers: %s', (clause, found) => {
    expect(ids(servers, { where: [clause], sort: 'name' }).toSorted()).toEqual(found)
  })

  test('several filters of the server list must all match, and `q` selects by a part of the name', () => {
    expect(ids(servers, { where: ['mode eq ctf', 'password eq false'] })).toEqual(['a'])
    expect(ids(servers, { q: ' NIGHT ' })).toEqual(['a'])
  })

  test.each([
    [['map eq x'], 'where', 1, 'is not a known field'],
    [['  map eq x'], 'where', 3, 'is not a known field'],
    [['mode is ctf'], 'where', 6, 'must be one of eq, ne, in, contains for a string'],
    [['mode ge ctf'], 'where', 6, 'must be one of eq'],
    [['seats.free ge two'], 'where', 15, 'must be a number'],
    [['mode eq chess'], 'where', 9, 'must be one of ctf, dm'],
    [['mode in ctf,chess'], 'where', 13, 'must be one of ctf, dm'],
    [['ranked eq yes'], 'where', 11, 'must be true or false'],
    [['mode eq'], 'where', 1, 'must be a field, an operator and a value'],
    [['mode eq ctf', 'nope'], 'where.1', 1, 'must be a field, an operator and a value'],
    [[`name contains ${'x'.repeat(300)}`], 'where', 257, 'at most 256'],
    [Array.from({ length: 17 }, () => 'mode eq ctf'), 'where', 1, 'at most 16 clauses'],
    [[`seats.free in ${Array.from({ length: 33 }, () => 1).join(',')}`], 'where', 15, 'at most 32 values'],
    [['__proto__ eq 1'], 'where', 1, 'is not a known field'],
  ])('an invalid filter of the server list is refused with field and column: %j', (where, field, column, message) => {
    expect(readFilter(browser, { where })).toMatchObject({ field, column, message: expect.stringContaining(message) })
  })

  test('property: a filter of the server list never throws for any input', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 20 }), fc.string(), (where, text) => {
        for (const given of [{ where }, { sort: text }, { cursor: text }, { q: text }]) readQuery(browser, given)
      }),
    )
    expect(readQuery(browser, { cursor: 'x' })).toMatchObject({ field: 'cursor' })
    expect(readQuery(browser, { sort: 'ping,-nope' })).toMatchObject({ field: 'sort', column: 6 })
    expect(readQuery(browser, { sort: 'ping,name,pool,build,place' })).toMatchObject({ field: 'sort', column: 22 })
  })
})

/** Generates a list with so few different values that some are equal. */
const anyList = fc.uniqueArray(
  fc.record({ id: fc.stringMatching(/^[a-f]{1,3}$/), taken: fc.nat(3), rank: fc.option(fc.nat(2)) }),
  { selector: ({ id }) => id, maxLength: 40 },
)
const listOf = (given: readonly { id: string; taken: number; rank: number | null }[]) =>
  given.map(({ id, taken, rank }) => filled(id, taken, { attributes: rank === null ? {} : { rank } }))

describe('a sorted table of servers', () => {
  const clause = fc.constantFrom(
    'seats.free ge 6',
    'seats.taken lt 3',
    'seats.taken gt 0',
    'seats.taken le 1',
    'seats.taken in 1,2',
    'rank eq 1',
    'rank ne 1',
    'rank ge 1',
    'build eq 7',
    'build ne 8',
    'mode eq ctf',
    'ranked eq true',
    'ping lt 40',
    'ping le 30',
    'ping ge 30',
    'place eq Oslo',
    'name contains a',
  )
  const sort = fc.constantFrom(
    'ping,-seats.taken',
    '-rank',
    'rank,name',
    '-ping',
    'name',
    '-ranked,seats.free',
    'place',
  )
  const row = fc.record({
    id: fc.stringMatching(/^[a-f]{1,2}$/),
    taken: fc.nat(3),
    place: fc.option(fc.nat(2)),
    attributes: fc.constantFrom<ListedServer['attributes']>(
      {},
      { mode: 'ctf', rank: 1, ranked: true },
      { mode: 'dm', rank: 2 },
      { rank: 'x', ranked: false },
    ),
    isGone: fc.boolean(),
  })
  const places = ['Oslo', 'Rome', 'Bonn'].map((city, number) => ({
    city,
    country: 'x',
    latitude: 1,
    longitude: number,
    number,
  }))
  const pingOf: PingOf = ({ place }) => [30, 50, undefined][place?.number ?? 2]

  test('property: after any changes a sorted table of servers has the same pages as an unsorted list', () => {
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 120 }),
        fc.array(clause, { maxLength: 3 }),
        sort,
        fc.integer({ min: 1, max: 9 }),
        (steps, where, by, limit) => {
          const table = createServerTable(browser)
          const rows = new Map<string, ListedServer>()
          for (const { id, taken, place, attributes, isGone } of steps) {
            if (isGone) {
              rows.delete(id)
              table.remove(id)
              continue
            }
            const one = filled(id, taken, { attributes, place: place === null ? undefined : places[place] })
            rows.set(id, one)
            table.set(one)
          }
          let cursor: string | undefined
          do {
            const read = query({ where, sort: by, limit, cursor })
            const page = table.page(read, pingOf)
            expect(page).toEqual(pageOf([...rows.values()], read, pingOf))
            cursor = page.next
          } while (cursor !== undefined)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('pages of the server list', () => {
  test('pages of the server list are together the whole list, sorted by all fields, for any page size', () => {
    fc.assert(
      fc.property(anyList, fc.integer({ min: 1, max: 7 }), fc.boolean(), (given, limit, isDescending) => {
        const servers = listOf(given)
        const sort = isDescending ? '-seats.taken,-rank' : 'rank,seats.taken'
        const whole = pageOf(servers, query({ sort, limit: 100 }), noPing)
        const found: string[] = []
        let cursor: string | undefined
        do {
          const page = pageOf(servers, query({ sort, limit, cursor }), noPing)
          expect(page.total).toBe(servers.length)
          expect(page.servers.length).toBeLessThanOrEqual(limit)
          found.push(...page.servers.map(({ id }) => id))
          cursor = page.next
        } while (cursor !== undefined)
        expect(found).toEqual(whole.servers.map(({ id }) => id))
        const takenOf = whole.servers.map(({ seats }) => seats.taken)
        if (isDescending) expect(takenOf).toEqual(takenOf.toSorted((a, b) => b - a))
        else {
          // Unknown values come last.
          const ranks = whole.servers.map(({ attributes }) => Number(attributes['rank'] ?? Infinity))
          expect(ranks).toEqual(ranks.toSorted((a, b) => (a < b ? -1 : Number(a > b))))
        }
      }),
    )
  })

  test('a table of servers with 120,000 different texts is written in seconds', { timeout: 20_000 }, () => {
    const names = Array.from({ length: 12 }, (_, index) => `a${index}`)
    const table = createServerTable(
      browserSchema.parse({ attributes: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }),
    )
    // Half of the servers change, so that strings of earlier values are forgotten too.
    for (let nth = 0; nth < 15_000; nth += 1) {
      const id = `s${nth % 10_000}`
      table.set(server({ id, attributes: Object.fromEntries(names.map((name) => [name, `${name} ${nth}`])) }))
    }
    const read = readQuery({ attributes: { a3: { type: 'string' } } }, { where: ['a3 eq a3 12345'] })
    if ('message' in read) throw new Error(read.message)
    expect(table.page(read, noPing).servers.map(({ id }) => id)).toEqual(['s2345'])
  })

  test.each(['\u754c', '\u0001', '"'])('a next page follows whatever long texts servers list: %j', (character) => {
    const texts = browserSchema.parse({ attributes: { a: { type: 'string' }, b: { type: 'string' } } })
    const servers = ['s1', 's2', 's3'].map((id) =>
      server({ id, attributes: { a: character.repeat(256), b: character.repeat(256) } }),
    )
    const first = readQuery(texts, { sort: 'a,b,-a,-b', limit: 2 })
    if ('message' in first) throw new Error(first.message)
    const { next } = pageOf(servers, first, noPing)
    const second = readQuery(texts, { sort: 'a,b,-a,-b', limit: 2, cursor: next })
    if ('message' in second) throw new Error(second.message)
    expect(pageOf(servers, second, noPing).servers.map(({ id }) => id)).toEqual(['s3'])
  })

  test('pages of the server list continue from their cursor when servers come and go', () => {
    const before = ['a', 'c', 'e', 'g'].map((id) => server({ id }))
    const first = pageOf(before, query({ sort: 'name', limit: 2 }), noPing)
    expect(first.servers.map(({ id }) => id)).toEqual(['a', 'c'])
    const after = ['b', 'd', 'e', 'g'].map((id) => server({ id }))
    expect(ids(after, { sort: 'name', limit: 3, cursor: first.next })).toEqual(['d', 'e', 'g'])
  })
})

describe('the copy of the server list in another process', () => {
  test('property: a copied server list equals the original after any changes, and receives only the changes', () => {
    const step = fc.record({ id: fc.nat(5), taken: fc.option(fc.nat(8)), reads: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const rows = new Map<string, ListedServer>()
        const listed = createListedServers((id) => rows.get(id), seededRandom(1))
        const copy = createServerList()
        for (const { id, taken, reads } of steps) {
          const name = `s${id}`
          if (taken === null) rows.delete(name)
          else rows.set(name, filled(name, taken))
          listed.touch(name)
          if (!reads) continue
          const changes = listed.changes(copy.known())
          expect(changes.servers.length).toBeLessThanOrEqual(6)
          copy.apply(JSON.parse(JSON.stringify(changes)))
          expect(copy.all().toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
            [...rows.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
          )
          expect(listed.changes(copy.known()).servers).toEqual([])
        }
      }),
    )
  })

  test('a list that nobody reads remembers a limited number of servers that have come and gone', () => {
    let reads = 0
    const listed = createListedServers(() => {
      reads += 1
      return undefined
    }, seededRandom(1))
    for (let nth = 0; nth < 100_000; nth += 1) listed.touch(`s${nth}`)
    reads = 0
    expect(listed.changes(undefined).servers).toEqual([])
    expect(reads).toBeLessThanOrEqual(10_000)
  })

  test('a copied server list arrives in parts, and starts anew with another leader', () => {
    const listed = createListedServers((id) => filled(id, 0), seededRandom(1))
    for (let nth = 0; nth < 2500; nth += 1) listed.touch(`s${nth}`)
    const copy = createServerList()
    let parts = 0
    for (let more = true; more; parts += 1) {
      const changes = listed.changes(copy.known())
      copy.apply(changes)
      ;({ more } = changes)
    }
    expect([parts, copy.all().length]).toEqual([3, 2500])
    // A touched server whose data is unchanged is not sent again.
    for (let nth = 0; nth < 2500; nth += 1) listed.touch(`s${nth}`)
    expect(listed.changes(copy.known())).toMatchObject({ servers: [], gone: [], more: false })
    const other = createListedServers((id) => filled(id, 1), seededRandom(2))
    other.touch('s1')
    const changes = other.changes(copy.known())
    expect(changes.isNew).toBe(true)
    copy.apply(changes)
    expect(copy.all().map(({ id, seats }) => [id, seats.taken])).toEqual([['s1', 1]])
  })

  test('a copied server list becomes complete even if more servers ended than the list remembers', () => {
    const rows = new Map<string, ListedServer>()
    const listed = createListedServers((id) => rows.get(id), seededRandom(1))
    const put = (id: string, row?: ListedServer) => {
      if (row === undefined) rows.delete(id)
      else rows.set(id, row)
      listed.touch(id)
    }
    for (let nth = 0; nth < 2500; nth += 1) put(`s${nth}`, filled(`s${nth}`, 0))
    listed.changes(undefined)
    for (let nth = 0; nth < 10_500; nth += 1) put(`old ${nth}`, filled(`old ${nth}`, 0))
    listed.changes(undefined)
    for (let nth = 0; nth < 10_500; nth += 1) put(`old ${nth}`)
    const copy = createServerList()
    let parts = 0
    for (let more = true; more && parts < 10; parts += 1) {
      const changes = listed.changes(copy.known())
      copy.apply(changes)
      ;({ more } = changes)
      // A server that is removed while the list is read must be removed from the copy too.
      if (parts === 0) put('s7')
    }
    expect([parts, copy.all().length, copy.find('s7')]).toEqual([3, 2499, undefined])
    // The removals are forgotten, so a reader from before them gets the whole list again.
    expect(listed.changes({ epoch: copy.known()?.epoch ?? '', version: 2500, since: 2500 }).isNew).toBe(true)
  })

  test('a copied server list keeps its servers until a new list has arrived completely', () => {
    const begin = (seed: number) => {
      const listed = createListedServers((id) => filled(id, 0), seededRandom(seed))
      for (let nth = 0; nth < 1500; nth += 1) listed.touch(`s${nth}`)
      return listed
    }
    const copy = createServerList()
    const before = begin(1)
    before.touch('only there')
    while (copy.apply(before.changes(copy.known())).length > 0);
    expect(copy.all()).toHaveLength(1501)
    const after = begin(2)
    const first = after.changes(copy.known())
    expect([first.isNew, first.more]).toEqual([true, true])
    expect(copy.apply(first).filter(([, now]) => now === undefined)).toEqual([])
    expect(copy.all()).toHaveLength(1501)
    expect(copy.apply(after.changes(copy.known())).filter(([, now]) => now === undefined)).toMatchObject([
      [{ id: 'only there' }, undefined],
    ])
    expect(copy.all()).toHaveLength(1500)
  })
})

describe('a followed page of the server list', () => {
  test('a followed page equals the page of the server list after any changes, at most 1 s late', async () => {
    const step = fc.array(fc.record({ id: fc.nat(12), taken: fc.option(fc.nat(8)) }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), async (steps, limit) => {
        const clock = createManualClock()
        const rows = new Map<string, ListedServer>()
        const listed = createListedServers((id) => rows.get(id), seededRandom(1))
        let reads = 0
        const reader = createServerReader({
          read: (known) => {
            reads += 1
            return listed.changes(known)
          },
          browser,
          clock,
          onError: (error) => {
            throw error
          },
        })
        const read = query({ where: ['seats.free ge 3'], sort: '-seats.taken', limit })
        const seen = new Map<string, ListedServer>()
        let order: readonly string[] = []
        let total = 0
        let calls = 0
        let last: PageChange | undefined
        const see = (change: PageChange) => {
          calls += 1
          last = change
          if (change.isWhole) seen.clear()
          for (const one of change.servers) seen.set(one.id, one)
          order = change.order ?? order
          ;({ total } = change)
        }
        const end = await reader.follow({ key: 'one', query: read, pingOf: noPing }, see)
        let shared: PageChange | undefined
        const endOther = await reader.follow({ key: 'one', query: read, pingOf: noPing }, (change) => {
          shared = change
        })
        for (const changes of steps) {
          for (const { id, taken } of changes) {
            const name = `s${id}`
            if (taken === null) rows.delete(name)
            else rows.set(name, filled(name, taken))
            listed.touch(name)
          }
          const before = calls
          await clock.advance(1000)
          await reader.fresh()
          expect(calls - before).toBeLessThanOrEqual(1)
          if (calls > before) expect(shared).toBe(last)
          // Another viewer starts to follow while changes are pending.
          ;(await reader.follow({ key: 'other', query: read, pingOf: noPing }, () => {}))()
          const page = pageOf([...rows.values()], read, noPing)
          expect(order).toEqual(page.servers.map(({ id }) => id))
          expect(order.map((id) => seen.get(id))).toEqual(page.servers)
          expect(total).toBe(page.total)
        }
        end()
        endOther()
        await clock.advance(2000)
        const before = reads
        await clock.advance(5000)
        expect(reads).toBe(before)
      }),
    )
  })

  test('a followed page stays unchanged while the list is unavailable, and any other failure is reported', async () => {
    const clock = createManualClock()
    const listed = createListedServers((id) => filled(id, 0), seededRandom(1))
    listed.touch('s1')
    let failure: Error | undefined
    const reported: unknown[] = []
    const reader = createServerReader({
      read: (known) => {
        if (failure !== undefined) throw failure
        return listed.changes(known)
      },
      browser,
      clock,
      onError: (error) => reported.push(error),
    })
    const seen: PageChange[] = []
    const end = await reader.follow({ key: 'one', query: query({}), pingOf: noPing }, (change) => seen.push(change))
    failure = new Unavailable('Game servers have yet to register again.')
    await clock.advance(3000)
    await expect(reader.fresh()).rejects.toBe(failure)
    expect([seen.length, reported]).toEqual([1, []])
    failure = new Error('broken')
    await clock.advance(1000)
    expect(reported).toEqual([failure])
    end()
  })
})
