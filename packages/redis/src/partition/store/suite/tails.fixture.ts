import { describe, expect, test } from 'vitest'
import { InvalidInput } from '@muster/core'
import {
  answer,
  aTicket,
  assigned,
  create,
  DONE,
  matched,
  tokenOf,
  twice,
  using,
  type OpenStores,
} from './stores.fixture.js'

const SOON = { blockMs: 0 }
const WAIT = { blockMs: 20_000 }

/** Tests of the inbox and of the changes. */
export function testTails(open: OpenStores): void {
  describe('the inbox of the leader', () => {
    test(
      'the inbox of the leader contains what followers did, in order',
      using(open, async ({ store, other }) => {
        const { cursor, entries, gap } = await store.inbox(undefined, WAIT)
        expect({ entries, gap }).toEqual({ entries: [], gap: false })
        await other.create([aTicket('t1'), aTicket('t2'), aTicket('t1')])
        await other.create([aTicket('t1')])
        await other.ask('{"accept":"t1"}\n')
        await other.cancel('t1', ['player of t1'])
        await other.cancel('t1', ['player of t1'])
        const read = await store.inbox(cursor, SOON)
        expect(read.gap).toBe(false)
        expect(read.entries).toEqual([
          { kind: 'created', ticketIds: ['t1', 't2'] },
          { kind: 'ask', text: '{"accept":"t1"}\n' },
          { kind: 'cancelled', ticketId: 't1' },
        ])
        const { cursor: end } = read
        expect(await store.inbox(end, SOON)).toEqual({ cursor: end, entries: [], gap: false, isBehind: false })
        // A new reader begins here.
        expect((await other.inbox(undefined, SOON)).cursor).toBe(read.cursor)
      }),
    )

    test(
      'the inbox of the leader names the player who cancelled a matched ticket',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        await create(store, 't2')
        await create(store, 't3')
        const token = await tokenOf(store)
        const headers = ['t2', 't3'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') }))
        await store.commit(token, { headers })
        const { cursor } = await store.inbox(undefined, WAIT)
        for (const id of ['t1', 't2']) await other.cancel(id, [`player of ${id}`], `player of ${id}`)
        await other.cancel('t3', ['player of t3'])
        expect((await store.inbox(cursor, SOON)).entries).toEqual([
          { kind: 'cancelled', ticketId: 't1' },
          { kind: 'cancelled', ticketId: 't2', by: 'player of t2' },
          { kind: 'cancelled', ticketId: 't3' },
        ])
        expect(await store.playerTickets(['player of t2'])).toEqual([[]])
      }),
    )

    test(
      'a new inbox entry wakes the leader without delay',
      using(open, async ({ store, other }) => {
        const { cursor } = await store.inbox(undefined, SOON)
        const waiting = store.inbox(cursor, WAIT)
        await create(other, 't1')
        expect(await waiting).toMatchObject({ entries: [{ kind: 'created', ticketIds: ['t1'] }], gap: false })
      }),
    )

    test(
      'the inbox of the leader returns nothing after a time without new entries',
      using(open, async ({ store, pass }) => {
        const { cursor } = await store.inbox(undefined, SOON)
        const waiting = store.inbox(cursor, { blockMs: 20 })
        await pass(20)
        expect(await waiting).toEqual({ cursor, entries: [], gap: false, isBehind: false })
      }),
    )

    test(
      'the inbox of the leader returns when its wait is ended',
      using(open, async ({ store, other }) => {
        const { cursor } = await store.inbox(undefined, SOON)
        const ending = new AbortController()
        const waiting = store.inbox(cursor, { ...WAIT, signal: ending.signal })
        ending.abort(new Error('enough'))
        await expect(waiting).rejects.toThrow('enough')
        await expect(store.inbox(cursor, { ...WAIT, signal: ending.signal })).rejects.toThrow('enough')
        await create(other, 't1')
        // Entries that arrived meanwhile are not lost.
        expect(await store.inbox(cursor, { blockMs: 500 })).toMatchObject({
          entries: [{ ticketIds: ['t1'] }],
          gap: false,
        })
      }),
    )

    test(
      'the inbox of the leader reports a gap exactly if entries were missed',
      using(
        open,
        async ({ store, other }) => {
          const { cursor: early } = await store.inbox(undefined, SOON)
          for (let number = 0; number < 1000; number += 1) void other.ask(`${number}`)
          await other.ask('last')
          const missed = await store.inbox(early, SOON)
          expect(missed.gap).toBe(true)
          let { cursor } = await store.inbox(undefined, SOON)
          for (let number = 0; number < 20; number += 1) {
            await other.ask(`${number}`)
            const read = await store.inbox(cursor, WAIT)
            expect(read).toMatchObject({ entries: [{ kind: 'ask', text: `${number}` }], gap: false })
            cursor = read.cursor
          }
        },
        { inboxEntries: 10 },
      ),
    )

    test(
      'the inbox of the leader is marked as incomplete until its end is read',
      using(open, async ({ store, other }) => {
        const { cursor } = await store.inbox(undefined, SOON)
        for (let number = 0; number < 300; number += 1) await other.ask(`${number}`)
        const first = await store.inbox(cursor, SOON)
        expect(first).toMatchObject({ gap: false, isBehind: true })
        const rest = await store.inbox(first.cursor, SOON)
        expect(rest).toMatchObject({ gap: false, isBehind: false })
        expect(first.entries.length + rest.entries.length).toBe(300)
      }),
    )

    test(
      'the inbox of the leader refuses an RPC request that is too long',
      using(open, async ({ store }) => {
        await expect(store.ask('x'.repeat(1_310_721))).rejects.toThrow(InvalidInput)
      }),
    )
  })

  describe('the changes for followers', () => {
    test(
      'the changes for a follower contain the changed tickets and the replies to this follower',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const { cursor, ...begin } = await other.changes(undefined, 'b', WAIT)
        expect(begin).toEqual({ gap: false, tickets: [], replies: [], isBehind: false })
        await store.commit(token, { headers: ['t1', 't2'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') })) })
        await answer(store, token, 'b', ['one', 'two\n'])
        await answer(store, token, 'a', ['to another'])
        await other.cancel('t2', ['player of t2'])
        expect(await store.commit(token, { headers: [{ ticketId: 't1', header: assigned(14, 'm1') }] })).toEqual(DONE)
        const read = await other.changes(cursor, 'b', SOON)
        expect(read).toMatchObject({ gap: false, replies: ['one', 'two\n'] })
        expect(read.tickets).toEqual([
          { ticketId: 't1', letter: 'M', version: 2 },
          { ticketId: 't2', letter: 'M', version: 2 },
          { ticketId: 't2', letter: 'C', version: 3 },
          { ticketId: 't1', letter: 'A', version: 14 },
        ])
        expect(await other.changes(read.cursor, 'b', SOON)).toEqual({
          cursor: read.cursor,
          gap: false,
          tickets: [],
          replies: [],
          isBehind: false,
        })
      }),
    )

    test(
      'a follower’s read of changes is marked as incomplete until the replies after many changes are read',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        let { cursor } = await other.changes(undefined, 'b', SOON)
        const write = (version: number) =>
          store.commit(token, { headers: [{ ticketId: 't1', header: matched(version, 'm1') }] })
        await write(2)
        await Promise.all(Array.from({ length: 297 }, (_, index) => write(index + 3)))
        await answer(store, token, 'b', ['last'])
        const replies: string[] = []
        const tickets: number[] = []
        let isBehind = true
        while (isBehind) {
          const read = await other.changes(cursor, 'b', SOON)
          replies.push(...read.replies)
          tickets.push(...read.tickets.map(({ version }) => version))
          ;({ cursor, isBehind } = read)
        }
        expect(replies).toEqual(['last'])
        expect(tickets).toHaveLength(298)
        expect(tickets.at(-1)).toBe(299)
      }),
    )

    test(
      'the changes for followers contain no change that was refused',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        await other.cancel('t1', ['player of t1'])
        const { cursor } = await other.changes(undefined, 'b', SOON)
        await store.commit(token, { headers: ['t1', 't2'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') })) })
        expect((await other.changes(cursor, 'b', SOON)).tickets).toEqual([{ ticketId: 't2', letter: 'M', version: 2 }])
      }),
    )

    test(
      'changes and replies wake a follower without delay',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        const { cursor } = await other.changes(undefined, 'b', SOON)
        const waiting = other.changes(cursor, 'b', WAIT)
        await store.commit(token, { headers: [{ ticketId: 't1', header: matched(2, 'm1') }] })
        const first = await waiting
        expect(first).toMatchObject({ tickets: [{ ticketId: 't1' }], replies: [] })
        const next = other.changes(first.cursor, 'b', WAIT)
        await answer(store, token, 'b', ['answer'])
        expect(await next).toMatchObject({ tickets: [], replies: ['answer'], gap: false })
      }),
    )

    test(
      'the changes for followers contain replies with their effect, which are kept for the next leader',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        const { cursor } = await other.changes(undefined, 'b', SOON)
        const reply = (id: string, follower = 'b') => ({ follower, text: JSON.stringify({ id, answer: `of ${id}` }) })
        const commit = {
          headers: [{ ticketId: 't1', header: matched(2, 'm1') }],
          replies: [reply('1'), reply('3', 'c'), reply('2')],
        }
        await twice(() => store.commit(token, commit))
        const { tickets, replies } = await other.changes(cursor, 'b', SOON)
        expect(tickets.at(0)).toEqual({ ticketId: 't1', letter: 'M', version: 2 })
        expect(replies.slice(0, 2)).toEqual([reply('1').text, reply('2').text])
        await store.commit(token, {
          notes: Array.from({ length: 300 }, (_, index) => ({ key: `k${index}`, text: 'text' })),
          replies: Array.from({ length: 300 }, (_, index) => reply(`many${index}`)),
        })
        const kept = (id: string, follower = 'b') => other.answered(follower, JSON.stringify({ id }).slice(0, -1))
        expect(await Promise.all([kept('1'), kept('2'), kept('many7')])).toEqual(
          [reply('1'), reply('2'), reply('many7')].map(({ text }) => text),
        )
        expect(await Promise.all([kept('3'), kept('many'), kept('1', 'd')])).toEqual([undefined, undefined, undefined])
      }),
    )

    test(
      'the changes for followers report a gap if entries were missed',
      using(
        open,
        async ({ store, other }) => {
          await create(store, 't1')
          const token = await tokenOf(store)
          const { cursor } = await other.changes(undefined, 'b', SOON)
          for (let version = 2; version < 1000; version += 1) {
            void store.commit(token, { headers: [{ ticketId: 't1', header: matched(version, 'm1') }] })
          }
          await store.commit(token, { headers: [{ ticketId: 't1', header: assigned(1000, 'm1') }] })
          const missed = await other.changes(cursor, 'b', SOON)
          expect(missed.gap).toBe(true)
          const { cursor: now } = await other.changes(undefined, 'b', SOON)
          expect(await other.changes(now, 'b', SOON)).toMatchObject({ gap: false, tickets: [] })
        },
        { changeEntries: 10 },
      ),
    )
  })

  test(
    'closing a partition store rejects the waiting reads of inbox and changes',
    using(open, async ({ store }) => {
      const { cursor } = await store.inbox(undefined, SOON)
      const { cursor: from } = await store.changes(undefined, 'a', SOON)
      const waiting = [store.inbox(cursor, WAIT), store.changes(from, 'a', WAIT)]
      const ended = Promise.allSettled(waiting)
      await store.close()
      for (const { status } of await ended) expect(status).toBe('rejected')
      await expect(store.inbox(cursor, WAIT)).rejects.toThrow()
    }),
  )
}
