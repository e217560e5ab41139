/**
 * The field on the canvas. It draws the positions from the server, interpolates between two messages, and reads where
 * the player wants to go.
 */
import { field, goalHeight } from 'rules'

/** Milliseconds by which the picture is late, so that there is a message before and after the shown time. */
const BEHIND_MS = 80
const KEYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  KeyA: [-1, 0],
  KeyD: [1, 0],
  KeyW: [0, -1],
  KeyS: [0, 1],
}
/** Distance in pixels from the point of touch at which a finger means the highest speed. */
const STICK = 56

/**
 * Creates the field. @param moved called with the direction in which the player wants to go, in the field's coordinates
 */
export function createField(canvas, moved) {
  const context = canvas.getContext('2d')
  const held = new Set()
  let worlds = []
  let aheadMs = Infinity
  let me
  let finger
  let told = '0,0'

  /**
   * Returns by how many quarters the field is turned. The own goal is on the left, or at the bottom of an upright
   * canvas.
   */
  const turns = () => {
    const isRight = worlds.at(-1)?.skaters.find(({ id }) => id === me)?.team === 1
    return (canvas.height > canvas.width ? 3 : 0) + (isRight ? 2 : 0)
  }
  const turned = ([x, y], quarters) => {
    for (let left = ((quarters % 4) + 4) % 4; left > 0; left -= 1) [x, y] = [-y, x]
    return [x, y]
  }

  const tell = () => {
    const keys = [...held].map((code) => KEYS[code])
    const wanted = finger?.move ?? [0, 1].map((axis) => keys.reduce((sum, key) => sum + key[axis], 0))
    const [x, y] = turned(wanted, -turns())
    if (String([x, y]) !== told) moved([x, y])
    told = String([x, y])
  }
  const onKey = (event) => {
    if (!(event.code in KEYS) || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    if (event.type === 'keydown') held.add(event.code)
    else held.delete(event.code)
    tell()
  }
  addEventListener('keydown', onKey)
  addEventListener('keyup', onKey)
  addEventListener('blur', () => {
    held.clear()
    tell()
  })
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    finger = { id: event.pointerId, x: event.clientX, y: event.clientY, move: [0, 0] }
  })
  canvas.addEventListener('pointermove', (event) => {
    if (finger?.id !== event.pointerId) return
    const [x, y] = [(event.clientX - finger.x) / STICK, (event.clientY - finger.y) / STICK]
    const longer = Math.max(1, Math.hypot(x, y))
    finger.move = [x / longer, y / longer]
    tell()
  })
  for (const name of ['pointerup', 'pointercancel'])
    canvas.addEventListener(name, () => {
      finger = undefined
      tell()
    })

  /** Returns the messages before and after the shown time, and how far the time is between them. */
  const around = () => {
    const at = performance.now() - aheadMs - BEHIND_MS
    const next = worlds.findIndex((world) => world.at >= at)
    if (next === -1) return [worlds.at(-1), worlds.at(-1), 1]
    const [before, after] = [worlds[Math.max(0, next - 1)], worlds[next]]
    const share = after.at === before.at ? 1 : (at - before.at) / (after.at - before.at)
    return [before, after, Math.min(1, Math.max(0, share))]
  }
  /**
   * Interpolates between two positions. A large distance is not interpolated, because the player was moved there, e.g.
   * after a goal.
   */
  const between = (one, other, share) => {
    if (one === undefined || Math.hypot(other.x - one.x, other.y - one.y) > 200) return other
    return { ...other, x: one.x + (other.x - one.x) * share, y: one.y + (other.y - one.y) * share }
  }

  const draw = () => {
    requestAnimationFrame(draw)
    const scale = devicePixelRatio
    const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale].map(Math.round)
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height]
    const [before, after, share] = worlds.length === 0 ? [] : around()
    const quarters = turns()
    const unit = Math.max(width, height) / (field.width + 40)
    const at = (x, y) => {
      const [right, down] = turned([x - field.width / 2, y - field.height / 2], quarters)
      return [width / 2 + right * unit, height / 2 + down * unit]
    }
    const colors = getComputedStyle(document.documentElement)
    const color = (name) => colors.getPropertyValue(`--${name}`)
    const own = after?.skaters.find(({ id }) => id === me)?.team ?? 0
    const colorOf = (team) => color(team === own ? 'ours' : 'theirs')

    const line = (points, stroke, thick) => {
      context.beginPath()
      for (const [x, y] of points) context.lineTo(...at(x, y))
      context.strokeStyle = stroke
      context.lineWidth = thick * unit
      context.lineCap = 'round'
      context.stroke()
    }
    const disc = (x, y, radius, fill, stroke, thick = 6) => {
      context.beginPath()
      context.arc(...at(x, y), radius * unit, 0, 7)
      context.fillStyle = fill
      if (fill !== undefined) context.fill()
      context.strokeStyle = stroke
      context.lineWidth = thick * unit
      if (stroke !== undefined) context.stroke()
    }

    context.clearRect(0, 0, width, height)
    const [[left, top], [right, bottom]] = [at(0, 0), at(field.width, field.height)]
    context.beginPath()
    context.roundRect(
      Math.min(left, right),
      Math.min(top, bottom),
      Math.abs(right - left),
      Math.abs(bottom - top),
      field.corner * unit,
    )
    context.fillStyle = color('ice')
    context.fill()
    context.strokeStyle = color('line')
    context.lineWidth = 6 * unit
    context.stroke()
    const middle = [field.width / 2, field.height / 2]
    line(
      [
        [middle[0], 12],
        [middle[0], field.height - 12],
      ],
      color('mark'),
      6,
    )
    disc(...middle, 150, color('ice'), color('mark'))
    const goal = goalHeight(after ?? { secondsLeft: 1 }) / 2
    for (const team of [0, 1]) {
      const x = team * field.width
      line(
        [
          [x, middle[1] - goal],
          [x, middle[1] + goal],
        ],
        colorOf(team),
        16,
      )
    }
    if (after === undefined) return

    const puck = between(before.puck, after.puck, share)
    for (const skater of after.skaters) {
      const { x, y, id, team } = between(
        before.skaters.find((one) => one.id === skater.id),
        skater,
        share,
      )
      context.globalAlpha = after.here.includes(id) ? 1 : 0.35
      disc(x, y, field.skater - 4, colorOf(team))
      disc(x, y, field.skater - 22, undefined, id === me ? color('puck') : color('ice'), id === me ? 9 : 5)
      context.font = `600 ${Math.max(12 * scale, 26 * unit)}px system-ui, sans-serif`
      context.textAlign = 'center'
      context.fillStyle = color('faint')
      const [textX, textY] = at(x, y)
      context.fillText(nameOf(id), textX, textY + (field.skater + 34) * unit)
      context.globalAlpha = 1
    }
    disc(puck.x, puck.y, field.puck - 3, color('puck'))
  }
  requestAnimationFrame(draw)

  return {
    /** Begins a game. @param player the player whose view is shown; undefined for a spectator */
    begin: (player) => {
      me = player
      worlds = []
      aheadMs = Infinity
      told = ''
    },
    show: (world) => {
      aheadMs = Math.min(aheadMs, performance.now() - world.at)
      worlds = [...worlds.slice(-9), world]
    },
    tell,
  }
}

/** Returns the name in a player's id: `amber-otter-3f2a91c0` is amber otter. */
export const nameOf = (id) => id.replace(/-[0-9a-f]+$/, '').replaceAll('-', ' ')
