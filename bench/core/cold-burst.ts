import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { atMost, type Figures } from '../figure.js'

const CREATES = 400
const RUNS = 20
/** Number of runs at the same time. Each takes ten seconds, most of which it waits. */
const TOGETHER = 5
const BUSY_LOOPS = 2

/**
 * The ways of sending a burst. Each uses new processes, so no code is compiled and no connection is open. Each resolves
 * with the number of creates that the emulator refused.
 */
const bursts: Readonly<Record<string, () => Promise<number>>> = {
  'in one process, as a function': () => together('within'),
  'in one process, over HTTP': () => together('loopback'),
  'one process and an emulator': () => apart(1),
  'three processes with shares and an emulator': () => apart(3),
}

/**
 * Sends 400 creates at once, by a client that has sent nothing before, to an emulator with the documented limit of 40
 * per second. Measured on the idle machine, and beside loops that keep two cores busy.
 */
export async function coldBurstFigures(): Promise<Figures> {
  const figures = []
  for (const busyLoops of [0, BUSY_LOOPS]) {
    const busy = Array.from({ length: busyLoops }, () => start('busy'))
    for (const [name, burst] of Object.entries(bursts)) {
      const refused = await runs(burst)
      const machine = busyLoops === 0 ? '' : `, beside ${busyLoops} busy loops`
      figures.push(
        atMost(
          `cold burst: creates refused of ${CREATES}, ${name}${machine}: worst of ${RUNS} runs`,
          Math.max(...refused),
          0,
          'creates',
        ),
      )
    }
    for (const loop of busy) loop.kill()
  }
  return { figures, peers: {} }
}

async function runs(burst: () => Promise<number>): Promise<number[]> {
  const refused: number[] = []
  while (refused.length < RUNS) refused.push(...(await Promise.all(Array.from({ length: TOGETHER }, burst))))
  return refused
}

const start = (...args: readonly (string | number)[]) =>
  fork(new URL('./burst-process.js', import.meta.url), args.map(String))

async function together(role: 'within' | 'loopback'): Promise<number> {
  const process = start(role, CREATES)
  const refused = Number(await messageOf(process))
  process.disconnect()
  return refused
}

async function apart(processes: number): Promise<number> {
  const emulator = start('emulator')
  const url = String(await messageOf(emulator))
  // A third of 40 is rounded down to 13, so three clients together are slightly slower than one.
  const each = Math.ceil(CREATES / processes)
  const clients = Array.from({ length: processes }, () => start('client', each, url, 1 / processes))
  await Promise.all(clients.map(messageOf))
  for (const client of clients) client.disconnect()
  const refused = messageOf(emulator)
  emulator.send('tell')
  const count = Number(await refused)
  emulator.disconnect()
  return count
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(fail)])) as [unknown]
  return message
}

const fail = () => {
  throw new Error('a process ended before it had done its part')
}
