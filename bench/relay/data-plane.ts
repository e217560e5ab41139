import type { Figures } from '../figure.js'
import { delays } from './delays.js'
import { startLoad } from './load.js'
import { overloaded, type Size } from './overload.js'
import { startRelayers, stopRelayers } from './relayers.js'

/**
 * Measures the emulator's relay in a process of its own, with 8 sessions of 4 users. In each session, three clients
 * send to their host. One other process simulates all 32 users, so that two cores are enough. It sends the same load
 * through sockets of `node:dgram` that only forward, and through a TURN server.
 */
export async function dataPlaneFigures(size: Size): Promise<Figures> {
  const relayers = await startRelayers()
  const load = startLoad()
  try {
    const overload = await overloaded(load, size, relayers)
    const quiet = await delays(load, size, relayers)
    return {
      figures: [...overload.figures, ...quiet.figures],
      peers: { [`relay: ${size} B`]: { overload: overload.found, delays: quiet.found } },
    }
  } finally {
    load.stop()
    await stopRelayers(relayers)
  }
}
