import { fork } from 'node:child_process'
import { atLeast, atMost, type Figures } from '../figure.js'
import { answer, letGo } from './answer.js'
import { LOBBIES, MEMBERS, type LobbiesMeasured } from './lobby-messages.js'

/** Lobbies in a process of their own, at their default settings, kept in memory. */
export async function lobbyFigures(): Promise<Figures> {
  const child = fork(new URL('./lobby-process.js', import.meta.url), { execArgv: ['--expose-gc'] })
  try {
    const measured = await answer<LobbiesMeasured>(child)
    const { joinMicroseconds, joinsPerSecond, joinsRefused, bytesEach } = measured
    const where = `${LOBBIES.toLocaleString('en-US')} lobbies of ${MEMBERS}`
    return {
      figures: [
        atMost(`lobbies: join p99 at 2,000 joins/s, with ${where}`, joinMicroseconds.p99 / 1000, 5, 'ms'),
        atLeast(`lobbies: joins kept up of 2,000/s, with ${where}`, joinsPerSecond, 1980, 'joins/s'),
        atMost(`lobbies: joins refused, with ${where}`, joinsRefused, 0, 'joins'),
        atMost(`lobbies: memory of each of ${where}`, bytesEach / 1024, 20, 'KB'),
      ],
      peers: { 'lobbies: as measured': measured },
    }
  } finally {
    letGo(child)
  }
}
