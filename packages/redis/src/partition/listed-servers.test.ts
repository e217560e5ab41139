/**
 * Tests that every process lists servers and holds seats. The leader decides, and the next leader accepts the servers'
 * reports.
 */
import { expect, test } from 'vitest'
import { SeatRefused, ServerNotRegistered, UnknownSeat } from '@muster/matchmaker'
import { RegistrationBody, ReportBody } from '@muster/matchmaker/internal'
import type { Partition } from './partition.js'
import { createPair } from './world.fixture.js'

const registration = RegistrationBody.parse({ instance: 'one', build: '7' })

test('a follower lists servers and holds seats, even under the next leader', async () => {
  const { first, second, service, pass, join, answer, close } = await createPair()
  await join('ann', 'bob')
  await pass(3000, 50)
  const token = service.servers[0]?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
  let seq = 0
  const report = async (follower: Partition, players: Record<string, 'in'>) => {
    seq += 1
    const matches = [
      { id: (await second.getTicket('ann'))?.matchId, status: 'open', players: { ann: 'in', bob: 'in' } },
    ]
    const listing = { name: 'world', seats: 2, password: 'secret', players }
    return answer(follower.reportServer(token, ReportBody.parse({ instance: 'one', seq, matches, listing })))
  }
  await answer(second.registerServer(token, registration))
  await report(second, { dan: 'in' })

  const list = await answer(second.listedServers())
  expect(list.servers).toMatchObject([{ name: 'world', build: '7', hasPassword: true, seats: { total: 2, free: 1 } }])
  expect(JSON.stringify(list)).not.toContain('secret')
  expect((await answer(second.listedServers(list))).servers).toEqual([])
  const [{ id: serverId = '' } = {}] = list.servers
  const hold = (playerId: string, password?: string) =>
    answer(second.holdSeats({ serverId, playerIds: [playerId], password }))
  await expect(hold('cat')).rejects.toMatchObject({ code: 'wrong-password' })
  const { seats, isNew } = await hold('cat', 'secret')
  expect([isNew, seats[0]?.state, seats[0]?.assignment === undefined]).toEqual([true, 'held', false])
  const seatId = seats[0]?.id ?? ''
  expect((await answer(second.followSeat(seatId))).playerId).toBe('cat')
  expect(await answer(second.seatsOf('cat'))).toHaveLength(1)
  const full = await hold('eve', 'secret').catch((error: unknown) => error)
  expect(full).toBeInstanceOf(SeatRefused)
  expect(full).toMatchObject({ code: 'server-full', alternatives: [] })

  first.pause()
  await pass(8000, 50)
  expect(second.leads()).toBe(true)
  // The hold is lost, and the list is unavailable until the server registers again.
  const anew = await answer(second.listedServers(list))
  expect([anew.isNew, anew.servers]).toEqual([true, []])
  await expect(answer(second.followSeat(seatId))).rejects.toBeInstanceOf(UnknownSeat)
  await expect(report(second, { dan: 'in' })).rejects.toBeInstanceOf(ServerNotRegistered)
  await answer(second.registerServer(token, registration))
  await report(second, { dan: 'in' })
  expect((await answer(second.seatsOf('dan')))[0]).toMatchObject({ serverId, state: 'taken' })
  expect((await hold('cat', 'secret')).seats[0]).toMatchObject({ serverId, state: 'held' })
  await answer(second.releaseSeat((await answer(second.seatsOf('cat')))[0]?.id ?? '', 'cat'))
  expect(await answer(second.seatsOf('cat'))).toEqual([])
  await close()
})
