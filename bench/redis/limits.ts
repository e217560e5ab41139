import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { seededRandom, systemClock } from '@muster/core/clock'
import { startRedisServer } from '@muster/redis-server'
import { atLeast, atMost, type Figures } from '../figure.js'
import { LIMIT, startLimitedService } from './limited-service.js'

const MEASURED_MS = 30_000
/** Milliseconds from the first request until the connections and pauses of the beginning are over. */
const SETTLING_MS = 3000
const MISHAPS = 26

interface Work {
  readonly together: number
  readonly gapMs: number
}
const busy: Work = { together: 24, gapMs: 0 }
const light: Work = { together: 1, gapMs: 500 }

/** Measures a limit that several processes share: how many requests exceed it, and which share of it is used. */
export async function limitFigures(): Promise<Figures> {
  const steady = await measure([busy, busy, busy, busy], calm)
  const uneven = await measure([busy, light, light, light], calm)
  const rough = await measure([busy, busy, busy, busy], misfortunes)
  const named = `shared limit of ${LIMIT}/s, 4 processes, answers in 5–35 ms`
  const rows = [
    { name: named, goal: 0.97, ...steady },
    { name: `${named}, one at work and three light`, goal: 0.95, ...uneven },
    { name: `${named}, ${MISHAPS} kills and pauses in 30 s`, goal: 0.9, ...rough },
  ]
  return {
    figures: rows.flatMap(({ name, goal, over, part }) => [
      atMost(`${name}: over the limit`, over, 0, 'requests'),
      atLeast(`${name}: part of the limit used`, part, goal, 'of 1'),
    ]),
    peers: { 'shared limit': Object.fromEntries(rows.map(({ name, requests }) => [name, { requests }])) },
  }
}

interface Fleet {
  /** The running processes. */
  readonly children: ChildProcess[]
  start(nth: number): void
}

async function measure(works: readonly Work[], during: (fleet: Fleet) => Promise<void>) {
  const server = await startRedisServer()
  const service = await startLimitedService()
  const children: ChildProcess[] = []
  const start = (nth: number) => {
    const { together, gapMs } = works[nth] as Work
    const args = [server.url, service.url, together, gapMs].map(String)
    children[nth] = fork(new URL('./limits-process.js', import.meta.url), args)
  }
  works.forEach((_, nth) => start(nth))
  while (service.passed() === 0) await systemClock.sleep(50)
  await systemClock.sleep(SETTLING_MS)
  service.begin()
  await during({ children, start })
  const result = service.result()
  await Promise.all(children.map(end))
  service.close()
  await server.close()
  return result
}

const calm = () => systemClock.sleep(MEASURED_MS)

/** Alternately kills and restarts a process, and pauses one for up to 3 s. */
async function misfortunes({ children, start }: Fleet): Promise<void> {
  const random = seededRandom(1)
  const until = systemClock.now() + MEASURED_MS
  for (let mishap = 0; mishap < MISHAPS; mishap++) {
    await systemClock.sleep((MEASURED_MS / MISHAPS) * (0.5 + random()) - 20)
    const nth = Math.floor(random() * children.length)
    const child = children[nth] as ChildProcess
    if (mishap % 2 === 0) {
      await end(child)
      start(nth)
    } else {
      child.kill('SIGSTOP')
      void systemClock.sleep(100 + random() * 2900).then(() => child.kill('SIGCONT'))
    }
  }
  await systemClock.sleep(until - systemClock.now())
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
