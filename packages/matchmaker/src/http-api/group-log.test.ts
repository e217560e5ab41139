import { copyFileSync } from 'node:fs'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { afterAll, expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { Unavailable } from '../errors.js'
import { duel } from '../matchmaker.fixture.js'
import { openStore } from '@muster/hosting'
import { createFolder } from '@muster/hosting/store-fixture'
import { createTestService } from '@muster/hosting/service-fixture'
import { createGroupStore } from './group-store.js'
import { aGroup, testGroupStore } from './group-store-suite.fixture.js'
import { createTicketApi } from './ticket-api.js'

const { newPath, remove } = createFolder()
afterAll(remove)
const clock = createManualClock()

const open = async (path: string) => {
  const log = await openStore({ path, clock, fsync: 'never' })
  const attach = () => log.attach({ name: 'muster', problem: () => {} })
  const store = (idleMs = 1000) => createGroupStore({ clock, idleMs, mostGroups: 2, isAlive: () => false, store: log })
  return { log, attach, store }
}

/** Returns a copy of the file, as after kill -9. */
const killed = (path: string) => {
  const copy = newPath()
  copyFileSync(path, copy)
  return copy
}

testGroupStore('a group store over the store of the matchmaker', async () => {
  const { log, attach, store: newStore } = await open(newPath())
  attach()
  const store = newStore()
  const pass = async (ms: number) => void (await clock.advance(ms))
  return { store, other: store, idleMs: 1000, pass, close: () => log.close() }
})

test('groups survive a restart with their versions, and deleted groups stay deleted', async () => {
  const path = newPath()
  const first = await open(path)
  first.attach()
  const store = first.store()
  await store.create(aGroup('one', ['ann', 'Bjørn']))
  await store.replace(aGroup('one', ['ann', 'Bjørn', 'cas']), 1)
  await store.create(aGroup('two', ['dee']))
  await store.replace(aGroup('two', []), 1)
  await store.create(aGroup('three', ['eve']))
  await clock.advance(500)
  await store.find('one')
  await clock.advance(700)
  // Now the group without requests expires, in this store and in the copy.
  await store.find('one')
  const copy = killed(path)
  await clock.advance(5000)
  const next = await open(copy)
  next.attach()
  const again = next.store()
  expect(again.size()).toBe(1)
  expect(await again.find('one')).toEqual({ version: 2, group: aGroup('one', ['ann', 'Bjørn', 'cas']) })
  expect((await again.gathering('cas'))?.group.id).toBe('one')
  await first.log.close()
  await next.log.close()
})

test('a change of a group that cannot be stored is refused, and the group stays unchanged', async () => {
  let isFull = false
  const stored: string[] = []
  const records = {
    stored: () => [],
    write: (all: readonly { readonly value?: string | undefined }[]) => {
      if (isFull) throw new Unavailable('full')
      stored.push(...all.flatMap(({ value }) => value ?? []))
    },
    put: () => {},
    change: () => {},
    remove: () => {},
  }
  const log = { records: () => records }
  const store = createGroupStore({ clock, idleMs: 1000, mostGroups: 2, isAlive: () => false, store: log })
  await store.create(aGroup('one', ['ann']))
  isFull = true
  await expect(store.create(aGroup('two', ['ben']))).rejects.toThrow(Unavailable)
  await expect(store.replace(aGroup('one', ['ann', 'ben']), 1)).rejects.toThrow(Unavailable)
  expect(await store.find('one')).toEqual({ version: 1, group: aGroup('one', ['ann']) })
  expect(store.size()).toBe(1)
  expect(stored).toHaveLength(1)
})

test('after kill -9 groups continue to gather and search: members become ready and get their ticket', async () => {
  /** Starts the API of a process. */
  const begin = async (path: string) => {
    const log = await openStore({ path, clock, fsync: 'never' })
    const matchmaker = createMatchmaker({
      deployments: createTestService({ clock }).deployments,
      queues: [{ ...duel, matchSize: 4 }],
      store: log,
      clock,
      random: seededRandom(path.length),
    })
    const api = createTicketApi(matchmaker, {
      authenticate: (request) => ({ id: bearerToken(request) ?? '' }),
      store: log,
      clock,
    })
    const call = async (who: string, method: string, at: string, body?: object) => {
      const response = await api(
        new Request(`http://localhost${at}`, {
          method,
          headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
          body: body === undefined ? null : JSON.stringify(body),
        }),
        { remoteAddress: '192.0.2.1' },
      )
      return { status: response.status, json: (await response.json()) as Record<string, string> }
    }
    return { log, matchmaker, call }
  }
  const player = { profile: 'duel', attributes: {} }
  const path = newPath()
  const first = await begin(path)
  const { json: ann } = await first.call('ann', 'POST', '/groups', { ...player, is_ready: true })
  const { json: ben } = await first.call('ben', 'POST', '/groups', { ...player, is_ready: false })
  const group = `/groups/${ben['group_id']}`
  const { json: cas } = await first.call('cas', 'POST', `${group}/members`, { ...player, is_ready: true })

  const copy = killed(path)
  const next = await begin(copy)
  expect((await next.call('ann', 'GET', `/groups/${ann['group_id']}`)).json).toMatchObject({ status: 'SEARCHING' })
  expect((await next.call('ben', 'GET', group)).json).toMatchObject({ status: 'FORMING' })
  const ready = await next.call('ben', 'PATCH', `${group}/members/${ben['member_id']}`, { is_ready: true })
  expect(ready.json).toMatchObject({ status: 'SEARCHING' })

  const last = await begin(killed(copy))
  expect((await last.call('cas', 'GET', `${group}/members/${cas['member_id']}`)).json).toMatchObject({
    status: 'SEARCHING',
  })
  expect(last.matchmaker.getTicket(ben['group_id'] ?? '')?.players.map(({ id }) => id)).toEqual(['ben', 'cas'])
  for (const { log } of [first, next, last]) await log.close()
})
