import { expect, test } from 'vitest'
import { field, goalHeight, type Move, newWorld, step, winner, withPlayers, type World } from './rules.js'

const duel = [
  { id: 'ann', team: 0 },
  { id: 'ben', team: 1 },
] as const

const begin = (seconds = 60): World => ({ ...withPlayers(newWorld(seconds), duel), faceOff: 0 })

function play(world: World, seconds: number, moves: Readonly<Record<string, Move>> = {}): World {
  let now = world
  for (let tick = 0; tick < seconds * 30 && winner(now) === undefined; tick += 1)
    now = step(now, new Map(Object.entries(moves)), 1 / 30)
  return now
}

test('a skater moves where the player wants, and stays on the field', () => {
  const { skaters } = play(begin(), 5, { ann: [-1, -1] })
  // The corners of the field are round.
  const [x, y] = [(skaters[0]?.x ?? 0) - field.corner, (skaters[0]?.y ?? 0) - field.corner]
  expect(Math.hypot(x, y)).toBeCloseTo(field.corner - field.skater, 0)
  expect(skaters[1]).toMatchObject({ id: 'ben', x: field.width * 0.78 })
})

test('a skater with an input vector longer than 1 is no faster', () => {
  const [fair, unfair] = [1, 1000].map((x) => play(begin(), 0.5, { ann: [0, x] }).skaters[0]?.y)
  expect(unfair).toBe(fair)
})

test('no player can touch the puck before the face-off is over', () => {
  const waiting = play(withPlayers(newWorld(60), duel), 1.5, { ann: [1, 0.2] })
  expect(waiting.puck).toMatchObject({ x: field.width / 2, vx: 0 })
  expect(waiting.secondsLeft).toBe(60)
})

test('a puck in the goal counts for the other team, and all positions are reset', () => {
  const shot = play({ ...begin(), puck: { x: field.width - 60, y: field.height / 2, vx: 900, vy: 0 } }, 0.2)
  expect(shot.score).toEqual([1, 0])
  expect(shot.puck).toMatchObject({ x: field.width / 2, vx: 0 })
  expect(shot.faceOff).toBeGreaterThan(1)
})

test('a puck that misses the goal bounces back', () => {
  const { score, puck } = play({ ...begin(), puck: { x: field.width - 60, y: 100, vx: 900, vy: 0 } }, 0.2)
  expect(score).toEqual([0, 0])
  expect(puck.vx).toBeLessThan(0)
})

test('a team wins the example game with three goals, or with the lead at the end of the time', () => {
  expect(winner({ ...begin(), score: [1, 3] })).toBe(1)
  expect(winner({ ...begin(), score: [2, 1] })).toBeUndefined()
  expect(winner({ ...begin(), score: [2, 1], secondsLeft: 0 })).toBe(0)
  expect(winner({ ...begin(), score: [1, 1], secondsLeft: -5 })).toBeUndefined()
})

test('goals grow in overtime, so that the example game ends', () => {
  expect(goalHeight({ secondsLeft: 3 })).toBe(field.goal)
  expect(goalHeight({ secondsLeft: -5 })).toBeGreaterThan(field.goal)
  expect(goalHeight({ secondsLeft: -1000 })).toBe(field.height)
})

test('a late player of the example game takes a free place, and a player who leaves frees the place', () => {
  const moved = play(begin(), 1, { ann: [0, 1] })
  const changed = withPlayers(moved, [duel[0], { id: 'cas', team: 1 }])
  expect(changed.skaters.map(({ id }) => id)).toEqual(['ann', 'cas'])
  expect(changed.skaters[0]).toBe(moved.skaters[0])
})

test('for any moves of players, only a puck in a goal leaves the field (property)', () => {
  let world = begin(1000)
  for (let tick = 0; tick < 3000; tick += 1) {
    const at = (id: number): Move => [Math.sin(tick / (7 + id)), Math.cos(tick / (11 - id))]
    world = step(
      world,
      new Map([
        ['ann', at(0)],
        ['ben', at(3)],
      ]),
      1 / 30,
    )
    for (const { x, y } of [...world.skaters, world.puck]) {
      expect(Number.isFinite(x + y)).toBe(true)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(field.height)
    }
  }
})
