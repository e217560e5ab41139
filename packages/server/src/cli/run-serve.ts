import { systemClock } from '@muster/core/clock'
import { parentsNow, terminationRequested } from '@muster/core/internal'
import {
  type OpenConfigFile,
  openConfigFile,
  tellWarnings,
  watchFile,
  startServer,
  type MusterServer,
} from '../running/index.js'
import { createProblemLog } from '../telemetry/log.js'
import { takeWarnings } from './process-warnings.js'
import { EXIT, type ExitCode, refusal, type Terminal } from './terminal.js'

/** Runs `muster serve` until a signal ends it. Returns the exit code. */
export async function serve(path: string, terminal: Terminal): Promise<ExitCode> {
  // SIGHUP reloads the configuration.
  const ended = terminationRequested(parentsNow(false), systemClock, ['SIGINT', 'SIGTERM'])
  // The listener for SIGHUP is created before anything else, because without one the signal ends the process.
  const hangups = createHangups()
  const passWarnings = takeWarnings(process)
  const open = async () => {
    const file = await openConfigFile({ path, env: terminal.env })
    return { file, server: await startServer(file.config, { editQueue: file.editQueue }) }
  }
  let started: Awaited<ReturnType<typeof open>> | undefined
  try {
    // A start may wait, e.g. for the store folder. Until it is complete, nothing is matched that has to be finished.
    started = await Promise.race([open(), ended.then(() => undefined)])
  } catch (error) {
    passWarnings(({ message }) => terminal.complain(`warning: ${message}`))
    return refusal(error, terminal)
  }
  if (started === undefined) return EXIT.ok
  const { file, server } = started
  const problems = createProblemLog(server.log, systemClock)
  passWarnings(({ message }) => problems.report('warning', new Error(message)))
  tellWarnings(server.log, file.warnings)
  const unwatch = await reloading(path, file, server, hangups)
  await ended
  await unwatch()
  await problems.close()
  return (await server.close()) ? EXIT.ok : EXIT.failed
}

/** Listens for SIGHUP. A signal that arrives before `listen` is called is passed to the listener later. */
function createHangups(): { readonly listen: (listener: () => void) => void } {
  let hasCome = false
  let hear = () => {
    hasCome = true
  }
  process.on('SIGHUP', () => hear())
  return {
    listen: (listener) => {
      hear = listener
      if (hasCome) listener()
    },
  }
}

/** Reloads the configuration when the file changes, and on SIGHUP. */
async function reloading(
  path: string,
  file: OpenConfigFile,
  server: MusterServer,
  hangups: ReturnType<typeof createHangups>,
): Promise<() => Promise<void>> {
  const reload = (isForced: boolean) => void file.reload(server.reload, server.log, isForced)
  hangups.listen(() => reload(true))
  const unwatch = await watchFile({ path, clock: systemClock, changed: () => reload(false) })
  // The watch reports no change that happened between the reading of the file and the start of the watch.
  reload(false)
  return unwatch
}
