import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import { fitted, sizeOf, wrap, type Size } from './layout.js'
import type { Progress, QueueProgress } from './progress.js'

export interface Screen {
  /** Shows a new picture if it is time for one. `look` is called only then. */
  show(phase: Progress['phase'], look: () => Progress): void
  /** Ends the view. The last picture remains. */
  done(): void
}

/** Number of characters of the longest bar, and of everything beside a bar. */
const LONGEST_BAR = 44
const BESIDE_BAR = 44
const SHORTEST_BAR = 8
const LINE_EVERY_MS = 2000
/** Milliseconds between two pictures. Nobody could read more frequent ones. */
const PICTURE_EVERY_MS = 100
const WIDEST = 100
const WHY_LINES = 3
/** Number of characters of all limits beside one another. */
const ALL_LIMITS = 92

/** Creates the view: a live picture in a terminal, or a line from time to time if the output is a file or a pipe. */
export function createScreen(stream: NodeJS.WriteStream, now: () => number): Screen {
  const startedAt = now()
  if (!stream.isTTY) return createLines(stream, now, startedAt)
  const update = createLogUpdate(stream)
  const colour = stream.hasColors()
  let next = startedAt
  return {
    show: (phase, look) => {
      if (now() < next && phase !== 'done') return
      next = now() + PICTURE_EVERY_MS
      update(picture(look(), now() - startedAt, colour, sizeOf(stream)))
    },
    done: () => update.done(),
  }
}

function createLines(stream: NodeJS.WriteStream, now: () => number, startedAt: number): Screen {
  let next = startedAt
  return {
    show: (phase, look) => {
      if (now() < next && phase !== 'done') return
      next = now() + LINE_EVERY_MS
      const { queues, matches } = look()
      const sum = (of: (queue: QueueProgress) => number) => queues.reduce((total, queue) => total + of(queue), 0)
      const time = `${((now() - startedAt) / 1000).toFixed(0).padStart(3)} s`
      const parts = (['arrived', 'waiting', 'deploying', 'playing'] as const).map(
        (key) => `${sum((queue) => queue[key])} ${key}`,
      )
      stream.write(`${time}  ${phase}: ${parts.join(', ')}, ${matches} matches\n`)
    },
    done: () => {},
  }
}

type Paint = (style: 'green' | 'yellow' | 'gray' | 'bold', text: string) => string

/**
 * Returns the picture. For one size of the terminal it always has the same number of lines, so that lines do not jump.
 */
export function picture(progress: Progress, ms: number, colour: boolean, size: Size): string {
  const { queues, matches, serversReady, requests, limits, longest, phase } = progress
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const title = { matching: 'matching', stopping: 'everybody has an answer; stopping all servers', done: 'done' }[phase]
  const seconds = (some: number) => (some / 1000).toFixed(1)
  const width = Math.min(WIDEST, size.columns) - 4
  const why =
    longest === undefined ? '' : `${longest.queue}, waiting for ${seconds(longest.waitedMs)} s: ${longest.why}`
  const indent = ' '.repeat(Math.min(15, Math.max(2, size.columns - 45)))
  const lines = [
    '',
    `  ${seconds(ms).padStart(5)} s   ${paint('bold', title)}`,
    '',
    ...queues.map((queue) => queueLine(queue, paint, size.columns)),
    '',
    `${indent}${paint('green', '█')} playing   ${paint('yellow', '▓')} server starting   ${paint('gray', '░')} waiting`,
    '',
    `  ${matches} matches found   ${serversReady} servers ready   ${requests} requests`,
    ...limitLines(limits, width),
    '',
    ...exactly(WHY_LINES, wrap(why, width)).map((line) => `  ${paint('gray', line)}`),
  ]
  // One row is reserved, because the cursor is below the last line.
  return fitted(lines, size.rows - 1).join('\n')
}

/**
 * Shows the limits beside one another, or in two lines. The number of lines is the same before all limits are known.
 */
function limitLines(limits: Progress['limits'], width: number): readonly string[] {
  const uses = limits.map(({ name, limit, peak }) => `${name} ${peak}/${limit}`)
  if (width >= ALL_LIMITS) return [`  ${uses.map((use) => `${use} per s`).join('   ')}`]
  const lines = wrap([...uses, 'per second'].map((use) => use.replaceAll(' ', '\u00a0')).join(' \u00a0 '), width)
  return exactly(2, uses.length === 0 ? [] : lines).map((line) =>
    `  ${line.replaceAll('\u00a0', ' ').trim()}`.trimEnd(),
  )
}

function queueLine(queue: QueueProgress, paint: Paint, columns: number): string {
  const { title, players, arrived, waiting, deploying, playing } = queue
  const width = Math.max(SHORTEST_BAR, Math.min(LONGEST_BAR, columns - BESIDE_BAR))
  // The ends of the parts are rounded, not their lengths, so that the bar grows evenly.
  const upTo = (count: number) => Math.round((count / players) * width)
  const [first, second, third] = [upTo(playing), upTo(playing + deploying), upTo(playing + deploying + waiting)]
  const others = '░'.repeat(third - second) + '·'.repeat(Math.max(0, width - third))
  const bar = paint('green', '█'.repeat(first)) + paint('yellow', '▓'.repeat(second - first)) + paint('gray', others)
  const here = arrived < players ? `, ${arrived} here` : ''
  return `  ${title.padEnd(12)} ${bar} ${String(playing).padStart(5)} of ${players}${here}`
}

/** Returns exactly `count` lines. If there are more, the last line shows that some are omitted. */
function exactly(count: number, lines: readonly string[]): readonly string[] {
  const shown = Array.from({ length: count }, (_, index) => lines[index] ?? '')
  return lines.length <= count ? shown : shown.with(count - 1, `${(shown.at(-1) ?? '').slice(0, -1)}…`)
}
