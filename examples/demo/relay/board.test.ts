import type { LobbyView } from '@muster/relay'
import { expect, test } from 'vitest'
import { createBoard, type LobbyHappening } from './board.js'

const opened = { lobbyId: 'one', hostId: 'ann', members: [{ playerId: 'ann', slot: 0 }] } as unknown as LobbyView

function boardAfter(...events: readonly Record<string, unknown>[]) {
  const board = createBoard(3)
  board.opened(opened)
  for (const event of events) board.happened({ lobbyId: 'one', at: 0, ...event } as unknown as LobbyHappening)
  return board
}
const joined = (playerId: string, slot: number) => ({ type: 'member.joined', playerId, slot })
const left = (playerId: string, reason: string) => ({ type: 'member.left', playerId, reason })

test('the relay demo board shows the slots and hosts that result from the lobby events', () => {
  const board = boardAfter(joined('ben', 1), joined('cleo', 2), left('ann', 'left'), {
    type: 'host.changed',
    hostId: 'ben',
  })
  expect(board.tables).toEqual([{ seats: [undefined, 'ben', 'cleo'], hostId: 'ben', over: false }])
  expect(board.hasSeen('ann')).toBe(true)
  expect(board.hasSeen('dan')).toBe(false)
})

test('the relay demo board counts joins, returns, departures, kicks and new hosts', () => {
  const board = boardAfter(
    joined('ben', 1),
    left('ben', 'kicked'),
    joined('ben', 1),
    left('ann', 'left'),
    { type: 'host.changed', hostId: 'ben' },
    left('ben', 'left'),
    { type: 'host.changed', hostId: null },
    { type: 'lobby.closed', reason: 'empty' },
  )
  expect(board.moves).toEqual({ joins: 2, cameBack: 1, left: 2, kicked: 1, newHosts: 1 })
  expect(board.table('one')).toEqual({ seats: [undefined, undefined, undefined], hostId: undefined, over: true })
})

test('an event of an unknown lobby is an error of the relay demo board', () => {
  expect(() => createBoard(2).table('two')).toThrow('there is no such lobby')
})
