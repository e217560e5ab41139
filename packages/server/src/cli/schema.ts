import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Terminal } from './terminal.js'

/** The name of the JSON Schema of the configuration, in this package and beside the files of its users. */
export const SCHEMA_FILE = 'muster.schema.json'

/** The JSON Schema of the configuration. */
export const schemaText = (): string => readFileSync(new URL(`../../${SCHEMA_FILE}`, import.meta.url), 'utf8')

export const addSchema = (program: Command, terminal: Terminal): Command =>
  program
    .command('schema')
    .description('print the JSON Schema of the configuration, for editors')
    .action(() => terminal.say(schemaText().trimEnd()))
