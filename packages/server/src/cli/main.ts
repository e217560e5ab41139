#!/usr/bin/env node
import { runProgram } from './program.js'
import { terminalOf } from './terminal.js'

// The reader of the output may end before this process, e.g. `head` or a log collector. The server must keep running.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.exitCode = await runProgram(process.argv.slice(2), terminalOf(process))
