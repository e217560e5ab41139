// pure: the rules of the game. The server, the bots, and the page of a lobby's host share them.

/** Lengths in units of the field. */
export const field = { width: 1600, height: 900, corner: 190, goal: 320, skater: 56, puck: 38, goalsToWin: 3 }

const PUSH = 3400
const DRAG = 3.4
const PUCK_DRAG = 0.35
const FASTEST_PUCK = 1900
const PUCK_MASS = 0.35
const BOUNCE = 0.9
const FACE_OFF_SECONDS = 2
/** Units per second by which both goals grow after the time is over, so that a deciding goal is soon shot. */
const GROWTH = 120

export interface Disc {
  readonly x: number
  readonly y: number
  readonly vx: number
  readonly vy: number
}

export interface Skater extends Disc {
  readonly id: string
  /** 0 defends the left goal, 1 the right goal. */
  readonly team: 0 | 1
}

export interface World {
  readonly puck: Disc
  readonly skaters: readonly Skater[]
  readonly score: readonly [number, number]
  /** Negative once the time is over. The next goal then decides. */
  readonly secondsLeft: number
  /** Seconds until the puck may be played again. */
  readonly faceOff: number
}

/** The direction in which a player wants to go: a vector of length at most 1. */
export type Move = readonly [x: number, y: number]

/** Returns true if a received value is a move. */
export const isMove = (given: unknown): given is Move =>
  Array.isArray(given) && given.length === 2 && given.every((part) => Number.isFinite(part))

const CENTER: Disc = { x: field.width / 2, y: field.height / 2, vx: 0, vy: 0 }

export const newWorld = (seconds: number): World => ({
  puck: CENTER,
  skaters: [],
  score: [0, 0],
  secondsLeft: seconds,
  faceOff: FACE_OFF_SECONDS,
})

/**
 * Returns the world with these players. New players stand in front of their own goal. Players who are not in the list
 * are removed.
 */
export function withPlayers(world: World, players: readonly Pick<Skater, 'id' | 'team'>[]): World {
  const known = new Map(world.skaters.map((skater) => [skater.id, skater]))
  return { ...world, skaters: players.map(({ id, team }, nth) => known.get(id) ?? { id, team, ...spot(team, nth) }) }
}

const spot = (team: number, nth: number): Disc => ({
  ...CENTER,
  x: field.width * (team === 0 ? 0.22 : 0.78),
  y: field.height * (0.35 + 0.15 * (nth % 3)),
})

/** Returns the present height of the goals. */
export const goalHeight = ({ secondsLeft }: Pick<World, 'secondsLeft'>): number =>
  Math.min(field.height, field.goal + Math.max(0, -secondsLeft) * GROWTH)

/** The team that has won; undefined while the game continues. */
export function winner({ score: [left, right], secondsLeft }: World): 0 | 1 | undefined {
  const isOver = Math.max(left, right) >= field.goalsToWin || (secondsLeft <= 0 && left !== right)
  if (!isOver) return undefined
  return left > right ? 0 : 1
}

/** Returns the world `dt` seconds later. */
export function step(world: World, moves: ReadonlyMap<string, Move>, dt: number): World {
  const skaters = world.skaters.map((skater) => skate(skater, moves.get(skater.id) ?? [0, 0], dt))
  for (const [nth, one] of skaters.entries())
    for (let other = nth + 1; other < skaters.length; other += 1)
      [skaters[nth], skaters[other]] = collide(skaters[nth] ?? one, skaters[other] as Skater, 2 * field.skater, 1)
  if (world.faceOff > 0) return { ...world, skaters, faceOff: world.faceOff - dt }

  const height = goalHeight(world)
  let puck = slide(world.puck, dt, height)
  for (const [nth, skater] of skaters.entries())
    [skaters[nth], puck] = collide(skater, puck, field.skater + field.puck, PUCK_MASS)
  puck = held(puck, height)
  const secondsLeft = world.secondsLeft - dt
  const scorer = puck.x < 0 ? 1 : puck.x > field.width ? 0 : undefined
  if (scorer === undefined) return { ...world, skaters, puck, secondsLeft }
  const score = world.score.map((goals, team) => goals + (team === scorer ? 1 : 0)) as [number, number]
  const again = skaters.map((skater, nth) => ({ ...skater, ...spot(skater.team, nth) }))
  return { puck: CENTER, skaters: again, score, secondsLeft, faceOff: FACE_OFF_SECONDS }
}

function skate(skater: Skater, [x, y]: Move, dt: number): Skater {
  const length = Math.max(1, Math.hypot(x, y))
  const slower = Math.exp(-DRAG * dt)
  const vx = (skater.vx + (x / length) * PUSH * dt) * slower
  const vy = (skater.vy + (y / length) * PUSH * dt) * slower
  return within({ ...skater, vx, vy, x: skater.x + vx * dt, y: skater.y + vy * dt }, field.skater)
}

function slide(puck: Disc, dt: number, goal: number): Disc {
  const slower = Math.exp(-PUCK_DRAG * dt) * Math.min(1, FASTEST_PUCK / Math.hypot(puck.vx, puck.vy, 1))
  const [vx, vy] = [puck.vx * slower, puck.vy * slower]
  return held({ vx, vy, x: puck.x + vx * dt, y: puck.y + vy * dt }, goal)
}

/** Keeps the puck on the field. It passes the left and the right end only in the goals. */
const held = (puck: Disc, goal: number): Disc =>
  Math.abs(puck.y - CENTER.y) < goal / 2 - field.puck ? puck : within(puck, field.puck)

const clamp = (value: number, from: number, to: number) => Math.min(to, Math.max(from, value))

/** Reflects a disc at the edges of the field, whose corners are round. */
function within<D extends Disc>(disc: D, radius: number): D {
  const x = clamp(disc.x, field.corner, field.width - field.corner)
  const y = clamp(disc.y, field.corner, field.height - field.corner)
  const [dx, dy] = [disc.x - x, disc.y - y]
  const [far, most] = [Math.hypot(dx, dy), field.corner - radius]
  if (far <= most) return disc
  const [nx, ny] = [dx / far, dy / far]
  const back = (1 + BOUNCE) * Math.max(0, disc.vx * nx + disc.vy * ny)
  return { ...disc, x: x + nx * most, y: y + ny * most, vx: disc.vx - nx * back, vy: disc.vy - ny * back }
}

/** Makes two discs bounce off each other. @param mass mass of the other disc; this one has mass 1 */
function collide<A extends Disc, B extends Disc>(one: A, other: B, distance: number, mass: number): [A, B] {
  const [dx, dy] = [other.x - one.x, other.y - one.y]
  const apart = Math.hypot(dx, dy)
  if (apart >= distance) return [one, other]
  const [nx, ny] = apart === 0 ? [1, 0] : [dx / apart, dy / apart]
  const speed = Math.min(0, (other.vx - one.vx) * nx + (other.vy - one.vy) * ny)
  const push = (-(1 + BOUNCE) * speed) / (1 + 1 / mass)
  const moved = <D extends Disc>(disc: D, by: number, shift: number): D => ({
    ...disc,
    x: disc.x + nx * shift,
    y: disc.y + ny * shift,
    vx: disc.vx + nx * by,
    vy: disc.vy + ny * by,
  })
  const overlap = distance - apart
  return [moved(one, -push, (-overlap * mass) / (1 + mass)), moved(other, push / mass, overlap / (1 + mass))]
}
