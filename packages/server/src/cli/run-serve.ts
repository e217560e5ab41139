import { systemClock } from '@muster/core/clock'
import { parentsNow, toldToEnd } from '@muster/core/process'
import { InvalidConfig } from '../config/finding.js'
import { openConfigFile, type ConfigFile } from '../running/config-file.js'
import { startServer, type MusterServer } from '../running/start-server.js'
import { watchFile } from '../running/watch-file.js'

/** Runs until it is told to end. Returns the exit code. */
export async function serve(path: string): Promise<number> {
  const parents = parentsNow(false)
  const file = await openConfigFile({ path }).catch(refusal)
  if (file === undefined) return 2
  const server = await startServer(file.config, { editQueue: file.editQueue }).catch(refusal)
  if (server === undefined) return 1
  const unwatch = await reloading(path, file, server)
  await toldToEnd(parents, systemClock)
  await unwatch()
  return (await server.close()) ? 0 : 1
}

/** Reloads when the file has changed, and on SIGHUP. */
async function reloading(path: string, file: ConfigFile, server: MusterServer): Promise<() => Promise<void>> {
  const reload = (isForced: boolean) => void file.reload(server.reload, server.log, isForced)
  process.on('SIGHUP', () => reload(true))
  return watchFile({ path, clock: systemClock, changed: () => reload(false) })
}

function refusal(error: unknown): undefined {
  process.stderr.write(`${messageOf(error)}\n`)
}

const messageOf = (error: unknown) => {
  if (error instanceof InvalidConfig) return error.message
  return `muster: ${error instanceof Error ? error.message : String(error)}`
}
