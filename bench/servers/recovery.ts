/**
 * Measures how long a process takes to resume the state of the previous one: 10,000 servers with a match of two players
 * on each.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@muster/core/clock'
import { createMatchmaker, openStore } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'
import { atMost, type Figures } from '../figure.js'

const MATCHES = 10_000
const RUNS = 3

export async function recoveryFigures(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-recovery-'))
  const path = join(folder, 'muster.log')
  const clock = createManualClock()
  const stub = createStubService(clock, 1000)
  const open = async () =>
    createMatchmaker({
      deployments: stub,
      queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
      maxServers: 2 * MATCHES,
      maxStarting: 2 * MATCHES,
      maxCreatesInFlight: MATCHES,
      clock,
      // The real time, by which the matchmaker yields to other work.
      stopwatch: () => performance.now(),
      store: await openStore({ path, fsync: 'never' }),
    })
  try {
    const first = await open()
    const told = { matches: 0 }
    first.on('serverAssigned', () => (told.matches += 1))
    for (let nth = 0; nth < 2 * MATCHES; nth += 1)
      first.createTicket({ queue: 'duel', players: [{ id: `player-${nth}`, ip: '192.0.2.7' }] })
    for (let ticks = 0; told.matches < MATCHES; ticks += 1) {
      if (ticks > 4000) throw new Error(`${told.matches} of ${MATCHES} matches have a server after ${ticks} ticks`)
      await first.tick()
      await clock.advance(250)
    }
    await first.close({ handOver: true })

    const seconds: number[] = []
    const longest: number[] = []
    for (let run = 0; run < RUNS; run += 1) {
      const begun = performance.now()
      const next = await open()
      const steps = watchSteps()
      await next.ready()
      longest.push(steps.longestMs())
      seconds.push((performance.now() - begun) / 1000)
      const { matches } = next.inspect()
      const lost = MATCHES - matches.filter(({ phase }) => phase === 'running').length
      if (lost > 0) throw new Error(`${lost} of ${MATCHES} matches do not go on`)
      await next.close({ handOver: true })
    }
    const size = `a file of ${Math.round(statSync(path).size / 1e6)} MB`
    return {
      figures: [
        atMost(
          'recovery of 10,000 servers and 10,000 matches from a file, its reading included',
          seconds,
          3,
          's',
          size,
        ),
        atMost('its longest step, in which nothing is answered, after the file was read', longest, 50, 'ms'),
      ],
      peers: {},
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Measures the longest time for which the event loop does not run. */
function watchSteps() {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    longestMs: () => {
      turn()
      isOver = true
      return longest
    },
  }
}
