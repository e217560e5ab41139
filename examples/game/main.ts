/**
 * Runs the whole game on this machine. `pnpm game` prints a URL. `--check` plays the game in Chromium, `--host 0.0.0.0`
 * admits phones in the network, and `--port` chooses the port. If another program uses the port, any free port is used.
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
    help: { type: 'boolean', default: false },
  },
})

const HELP = `The whole game on this machine.

  pnpm game                   prints a URL: play in two windows or more
  pnpm game --host 0.0.0.0    lets phones of the network in
  pnpm game --port 8070       chooses the port; if another program has it, any free one is taken
  pnpm game --check           plays it in Chromium, and exits with 1 if something is wrong`

/** Returns the addresses of this machine in its networks. A sandbox may forbid listing them. */
function addressesOf(): readonly string[] {
  try {
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    return all.flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? address : []))
  } catch {
    return []
  }
}

if (values.help) console.log(HELP)
else if (values.check) {
  const { checkGame } = await import('./check.js')
  process.exitCode = (await checkGame()) ? 0 : 1
} else {
  const { host } = values
  const start = (port: number) => startGame({ host, port })
  const game = await start(Number(values.port)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return start(0)
  })
  console.log(`Play at ${game.url}, in two windows or more. Ctrl+C ends it.`)
  for (const address of host === '127.0.0.1' ? [] : addressesOf())
    console.log(`Phones: http://${address}:${new URL(game.url).port}`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await game.close()
}
