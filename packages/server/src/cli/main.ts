#!/usr/bin/env node
import { runProgram } from './program.js'
import { terminalOf } from './terminal.js'

// Ignores write errors: the reader of the output, e.g. `head` or a log collector, may end first. The server must keep
// running.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.exitCode = await runProgram(process.argv.slice(2), terminalOf(process))
