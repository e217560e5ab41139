import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import type { Progress, QueueProgress } from './progress.js'

export interface Screen {
  /** Looks at how things are only if it is time for another picture. */
  show(phase: Progress['phase'], look: () => Progress): void
  /** Leaves the last picture standing. */
  done(): void
}

const WIDTH = 44
const LINE_EVERY_MS = 2000
/** Milliseconds between two pictures: more often than this nobody reads. */
const PICTURE_EVERY_MS = 100
const WHY_WIDTH = 96
const WHY_LINES = 3

/** A live picture in a terminal; a line now and then where the output is a file or a pipe. */
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
      update(picture(look(), now() - startedAt, colour))
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
      const parts = (['arrived', 'waiting', 'deploying', 'playing'] as const).map((key) => `${sum((queue) => queue[key])} ${key}`)
      stream.write(`${time}  ${phase}: ${parts.join(', ')}, ${matches} matches\n`)
    },
    done: () => {},
  }
}

type Paint = (style: 'green' | 'yellow' | 'gray' | 'bold', text: string) => string

/** Lines that change as little as they can: always as many, whatever there is to tell. */
export function picture(progress: Progress, ms: number, colour: boolean): string {
  const { queues, matches, serversReady, requests, limits, longest, phase } = progress
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const title = { matching: 'matching', stopping: 'everybody has an answer; stopping all servers', done: 'done' }[phase]
  const seconds = (some: number) => (some / 1000).toFixed(1)
  const why = longest === undefined ? '' : `${longest.queue}, waiting for ${seconds(longest.waitedMs)} s: ${longest.why}`
  return [
    '',
    `  ${seconds(ms).padStart(5)} s   ${paint('bold', title)}`,
    '',
    ...queues.map((queue) => queueLine(queue, paint)),
    '',
    `  ${' '.repeat(13)}${paint('green', '█')} playing   ${paint('yellow', '▓')} server starting   ${paint('gray', '░')} waiting`,
    '',
    `  ${matches} matches found   ${serversReady} servers ready   ${requests} requests`,
    `  ${limits.map(({ name, limit, peak }) => `${name} ${peak}/${limit} per s`).join('   ')}`,
    '',
    ...inLines(why, WHY_LINES).map((line) => `  ${paint('gray', line)}`),
  ].join('\n')
}

function queueLine({ title, players, arrived, waiting, deploying, playing }: QueueProgress, paint: Paint): string {
  // Ends of the parts are rounded, not their lengths, so that the bar grows evenly.
  const upTo = (count: number) => Math.round((count / players) * WIDTH)
  const [first, second, third] = [upTo(playing), upTo(playing + deploying), upTo(playing + deploying + waiting)]
  const others = '░'.repeat(third - second) + '·'.repeat(Math.max(0, WIDTH - third))
  const bar = paint('green', '█'.repeat(first)) + paint('yellow', '▓'.repeat(second - first)) + paint('gray', others)
  const here = arrived < players ? `, ${arrived} here` : ''
  return `  ${title.padEnd(12)} ${bar} ${String(playing).padStart(5)} of ${players}${here}`
}

/** Broken between words, into exactly so many lines; what is too long is cut off. */
function inLines(text: string, count: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + 1 + word.length <= WHY_WIDTH) lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    else lines.push(word.slice(0, WHY_WIDTH))
  }
  const shown = Array.from({ length: count }, (_, index) => lines[index] ?? '')
  return lines.length <= count ? shown : shown.with(count - 1, `${(shown.at(-1) ?? '').slice(0, WHY_WIDTH - 1)}…`)
}
