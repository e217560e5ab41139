import { systemClock } from '@muster/core/clock'
import { parentsNow, terminationRequested } from '@muster/core/internal'
import { type Dev, type DevOptions, SKILL, startDev } from '../dev/start-dev.js'
import { watchFile } from '../running/index.js'
import { EXIT, type ExitCode, refusal, type Terminal } from './terminal.js'

/** Runs `muster dev` until a signal ends it. Returns the exit code. */
export async function dev(options: DevOptions, terminal: Terminal): Promise<ExitCode> {
  const ended = terminationRequested(parentsNow(false), systemClock)
  let started: Dev
  try {
    started = await startDev(options)
  } catch (error) {
    return refusal(error, terminal)
  }
  terminal.say(greeting(started))
  const reload = () => void started.reload()
  const unwatch =
    options.config === undefined
      ? undefined
      : await watchFile({ path: options.config, clock: systemClock, changed: reload })
  await ended
  await unwatch?.()
  await started.close()
  return EXIT.ok
}

const SIMULATED = `Servers are simulated: their addresses are
  ports of this machine, at which nothing listens, and they register by themselves if a queue requires it. Those of
  a pool take every match that they are given. \`muster dev -- node server.js\` runs your own.`

/** For each section of the file that `muster dev` ignores: what applies instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  auth: 'the token below is for everybody',
  profiles: 'players have the attributes that they send, or defaults',
  servers: 'game servers get secrets of this process',
  sources: 'the emulator starts all servers, also of pools with a source',
  results: 'no result is sent',
}

/** The text that `muster dev` prints at its start. */
export function greeting({ urls, token, taken, ignored, command, server }: Dev): string {
  const others = taken.map((port) => `\n  Port ${port} is taken, or this user may not use it, so a free one is used.`)
  const sections = ignored.map((name) => `\n  IGNORED HERE: "${name}" of your file: ${INSTEAD[name]}.`)
  const servers = command === undefined ? SIMULATED : `Servers are processes of\n  ${command.command.join(' ')}`
  return `${[...others, ...sections].join('')}
  Console   ${urls.console}
  API       ${urls.api}   (docs: ${urls.api}/openapi.json)
  Emulator  ${urls.emulator}

  Send "authorization: Bearer ${token}" as a backend, "Bearer ${token}:ann" as the player ann:
  POST ${urls.api}/tickets {"profile": ${JSON.stringify(server.config().queues[0]?.name)}}
  Players may set any attributes, except in queues with playerMayState. An attribute that a rule compares and a player
  does not set has a default (skill ${SKILL}). Pages of localhost may call the API. ${servers}
  "Let players in" in the console adds bots. Ctrl-C ends everything.
`
}
