import { fork } from 'node:child_process'
import { atLeast, atMost, median, type Figures } from '../figure.js'
import { answer, letGo } from './answer.js'
import { JOINS_PER_SECOND, LOBBIES, MEMBERS, type JoinRound, type LobbiesMeasured } from './lobby-messages.js'

/**
 * Measures lobbies in a process of their own, with their default settings, in memory. Calls come from the same thread,
 * like those of an HTTP server. Each call is due at a fixed time and is measured from then on, so a blocked thread
 * makes all joins late that are due meanwhile. The wait before each call is reported too.
 */
export async function lobbyFigures(): Promise<Figures> {
  const child = fork(new URL('./lobby-process.js', import.meta.url), { execArgv: ['--expose-gc'] })
  try {
    const measured = await answer<LobbiesMeasured>(child)
    const { rounds, joinsRefused, bytesEach } = measured
    const of = (key: (round: JoinRound) => number) => rounds.map(key)
    const where = `${LOBBIES.toLocaleString('en-US')} lobbies of ${MEMBERS}`
    const rate = JOINS_PER_SECOND.toLocaleString('en-US')
    const typical = (key: (round: JoinRound) => number) => Number(median(of(key)).toPrecision(2))
    const beside = [
      `p50 ${typical(({ joinMicroseconds }) => joinMicroseconds.p50)} µs`,
      `p99 of the wait before the call ${typical(({ waitMicroseconds }) => waitMicroseconds.p99) / 1000} ms`,
      `${typical(({ collections }) => collections)} collections in ${LOBBIES / JOINS_PER_SECOND} s, together ` +
        `${typical(({ collectionMs }) => collectionMs)} ms, the longest ` +
        `${typical(({ longestCollectionMs }) => longestCollectionMs)} ms`,
    ].join('; ')
    return {
      figures: [
        atMost(
          `lobbies: join p99 at ${rate} joins/s, with ${where}`,
          of(({ joinMicroseconds }) => joinMicroseconds.p99 / 1000),
          3,
          'ms',
          beside,
        ),
        atLeast(
          `lobbies: joins kept up of ${rate}/s, with ${where}`,
          of(({ joinsPerSecond }) => joinsPerSecond),
          0.99 * JOINS_PER_SECOND,
          'joins/s',
        ),
        atMost(`lobbies: joins refused, with ${where}`, joinsRefused, 0, 'joins'),
        atMost(`lobbies: memory of each of ${where}`, bytesEach / 1024, 20, 'KB'),
      ],
      peers: { 'lobbies: as measured': measured },
    }
  } finally {
    letGo(child)
  }
}
