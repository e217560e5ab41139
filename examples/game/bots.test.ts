import { expect, test } from 'vitest'
import { botMove } from './bots.js'
import { type Move, newWorld, step, winner, withPlayers, type World } from './rules.js'
import { createSessions, isBot } from './sessions.js'

/** Plays with bots, and with players who stand still, until one team has won. */
function play(left: readonly string[], right: readonly string[]): World {
  const players = [...left.map((id) => ({ id, team: 0 }) as const), ...right.map((id) => ({ id, team: 1 }) as const)]
  let world = withPlayers(newWorld(90), players)
  for (let tick = 0; winner(world) === undefined && tick < 30 * 300; tick += 1) {
    const moves = new Map<string, Move>(players.flatMap(({ id }) => (isBot(id) ? [[id, botMove(world, id)]] : [])))
    world = step(world, moves, 1 / 30)
  }
  return world
}

test('a bot of the example game shoots goals for either team', () => {
  expect(winner(play(['bot-1'], ['ann']))).toBe(0)
  expect(winner(play(['ann'], ['bot-1']))).toBe(1)
})

test('example games of bots come to an end', () => {
  expect(winner(play(['bot-1'], ['bot-2']))).toBeDefined()
  expect(winner(play(['bot-1', 'bot-2'], ['bot-3', 'bot-4']))).toBeDefined()
})

test('a bot of the example game that is not on the field stays where it is', () => {
  expect(botMove(newWorld(90), 'bot-1')).toEqual([0, 0])
})

test('a session of the example game is accepted only by the process that issued it', () => {
  const sessions = createSessions()
  const token = sessions.begin()
  const id = sessions.playerOf(token) ?? ''
  expect(id).toMatch(/^[a-z]+-[a-z]+-[0-9a-f]{8}$/)
  expect([isBot(id), isBot(sessions.playerOf(sessions.begin('bot')) ?? '')]).toEqual([false, true])
  expect(createSessions().playerOf(token)).toBeUndefined()
  expect(sessions.playerOf(token.replace(id, 'golden-owl-00000000'))).toBeUndefined()
  expect([undefined, '', '~', 'golden-owl', `${id}~`].map(sessions.playerOf)).toEqual(Array(5).fill(undefined))
})
