/** Runs the program with the configuration in its first argument, in a process of its own. */
import { readConfigText, startServer } from '@muster/server'
import type { ServerState } from '../matchmaker/ticket-api-messages.js'

const { config } = await readConfigText(process.argv[2] ?? '', { path: 'muster.yaml' })
const server = await startServer(config)

function state(): ServerState {
  const { user, system } = process.cpuUsage()
  return {
    port: Number(new URL(server.url).port),
    cpuMicroseconds: user + system,
    residentBytes: process.memoryUsage.rss(),
  }
}

process.send?.(state())
process.on('message', () => process.send?.(state()))
process.on('disconnect', () => void server.close().then(() => process.exit()))
