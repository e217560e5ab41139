import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Terminal } from './terminal.js'

/** `muster serve`. What it does is loaded when it is asked for. */
export const addServe = (program: Command, terminal: Terminal): Command =>
  program
    .command('serve')
    .description('serve players, as a configuration says: it is read again when it changes, and on SIGHUP')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .action(async ({ config }: { readonly config: string }) => {
      const { serve } = await import('./run-serve.js')
      // Whatever could not be ended in time must not keep the process.
      process.exit(await serve(resolve(terminal.folder, config), terminal))
    })
