/**
 * The whole game on this machine: `pnpm game` prints a URL. `--check` plays it in Chromium, `--host 0.0.0.0` lets
 * phones of the network in, and `--port` chooses the port; if another program has it, any free one is taken.
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
  const start = (port: number) => startGame({ host, port })
  const game = await start(Number(values.port)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return start(0)
  })
  const others = host === '127.0.0.1' ? [] : Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  console.log(`Play at ${game.url}, in two windows or more. Ctrl+C ends it.`)
  for (const { address, family, internal } of others)
    if (family === 'IPv4' && !internal) console.log(`Phones: http://${address}:${new URL(game.url).port}`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await game.close()
}
