/**
 * The whole game on this machine: `pnpm game` prints a URL. `--check` plays it in Chromium, `--host 0.0.0.0` lets
 * phones of the network in, and `--port` chooses the port.
 */
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { parseArgs } from 'node:util'
import { startGame } from './backend.js'

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8070' },
  },
})

if (values.check) {
  const { checkGame } = await import('./check.js')
  process.exitCode = (await checkGame()) ? 0 : 1
} else {
  const { host } = values
  const game = await startGame({ host, port: Number(values.port) })
  const others = host === '127.0.0.1' ? [] : Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  console.log(`Play at ${game.url}, in two windows or more. Ctrl+C ends it.`)
  for (const { address, family, internal } of others)
    if (family === 'IPv4' && !internal) console.log(`Phones: http://${address}:${values.port}`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await game.close()
}
