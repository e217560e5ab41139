import { createLogUpdate } from 'log-update'
import type { Progress } from './job.js'

export interface Screen {
  show(progress: Progress): void
  /** Leaves the last picture standing. */
  done(): void
}

const WIDTH = 48
const LINE_EVERY_MS = 2000

/** A live picture in a terminal; a line now and then where the output is a file or a pipe. */
export function createScreen(stream: NodeJS.WriteStream, now: () => number): Screen {
  const startedAt = now()
  if (!stream.isTTY) return createLines(stream, now, startedAt)
  const update = createLogUpdate(stream)
  return {
    show: (progress) => update(picture(progress, now() - startedAt)),
    done: () => update.done(),
  }
}

function createLines(stream: NodeJS.WriteStream, now: () => number, startedAt: number): Screen {
  let next = startedAt
  return {
    show: (progress) => {
      if (now() < next && progress.phase !== 'done') return
      next = now() + LINE_EVERY_MS
      const { arrived, waiting, deploying, playing, matches, phase } = progress
      const time = `${((now() - startedAt) / 1000).toFixed(0).padStart(3)} s`
      stream.write(`${time}  ${phase}: ${arrived} arrived, ${waiting} waiting, ${deploying} deploying, ${playing} playing, ${matches} matches\n`)
    },
    done: () => {},
  }
}

function picture(progress: Progress, ms: number): string {
  const { players, arrived, waiting, deploying, playing, matches, serversReady, requests, limits, phase } = progress
  const cells = (count: number) => Math.round((count / players) * WIDTH)
  const bar = ('█'.repeat(cells(playing)) + '▓'.repeat(cells(deploying)) + '░'.repeat(cells(waiting))).slice(0, WIDTH)
  const title = { matching: 'matching', stopping: 'everybody has an answer; stopping all servers', done: 'done' }[phase]
  return [
    '',
    `  ${(ms / 1000).toFixed(1).padStart(5)} s   ${title}`,
    '',
    `  ${bar.padEnd(WIDTH, '·')}   ${arrived} of ${players} players have arrived`,
    `  █ ${playing} playing   ▓ ${deploying} deploying   ░ ${waiting} waiting`,
    '',
    `  ${matches} matches found   ${serversReady} servers ready   ${requests} requests`,
    `  ${limits.map(({ name, limit, peak }) => `${name} ${peak}/${limit} per s`).join('   ')}`,
    '',
  ].join('\n')
}
