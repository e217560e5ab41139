#!/usr/bin/env node
import { runProgram } from './program.js'
import { terminalOf } from './terminal.js'

// Who reads the output may end before us, as `head` does, or a collector of logs: players are served all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.exitCode = await runProgram(process.argv.slice(2), terminalOf(process))
