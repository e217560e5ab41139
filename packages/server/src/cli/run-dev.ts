import { systemClock } from '@muster/core/clock'
import { parentsNow, toldToEnd } from '@muster/core/process'
import { startDev, type Dev, type DevOptions } from '../dev/start-dev.js'
import { watchFile } from '../running/watch-file.js'
import { EXIT, type ExitCode } from './exit-codes.js'
import { refusal } from './refusal.js'
import type { Terminal } from './terminal.js'

/** Runs until it is told to end. Returns the exit code. */
export async function dev(options: DevOptions, terminal: Terminal): Promise<ExitCode> {
  const told = toldToEnd(parentsNow(false), systemClock)
  let started: Dev
  try {
    started = await startDev(options)
  } catch (error) {
    return refusal(error, options.config ?? 'muster.yaml', terminal)
  }
  terminal.say(greeting(started))
  const reload = () => void started.reload()
  const unwatch =
    options.config === undefined
      ? undefined
      : await watchFile({ path: options.config, clock: systemClock, changed: reload })
  await told
  await unwatch?.()
  await started.close()
  return EXIT.ok
}

const greeting = ({ urls, token }: Dev) => `
  Console   ${urls.console}
  API       ${urls.api}   (docs: ${urls.api}/openapi.json)
  Emulator  ${urls.emulator}

  Send "authorization: Bearer ${token}" as a backend, "Bearer ${token}:ann" as the player ann.
  A crowd of bots arrives by a button in the console. Ctrl-C ends everything.
`
