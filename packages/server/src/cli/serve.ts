import { Command } from 'commander'

/** `muster serve`. What it does is loaded when it is asked for. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description('Serve players, as a configuration says. It is read again when it changes, and on SIGHUP')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .action(async ({ config }: { readonly config: string }) => {
      const { serve } = await import('./run-serve.js')
      process.exit(await serve(config))
    })
