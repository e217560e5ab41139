#!/usr/bin/env node
// Runs before the other modules are loaded: without a listener, a SIGHUP during the start ends the process. `serve`
// reads the configuration later, so an early request to reload it needs no other action.
if (process.argv[2] === 'serve') process.on('SIGHUP', () => {})

const { runProgram } = await import('./program.js')
const { EXIT, terminalOf } = await import('./terminal.js')

const terminal = terminalOf(process)
let lost: NodeJS.ErrnoException | undefined

// A write error does not end the process: the reader of the output, e.g. `head` or a log collector, may end first, and
// the server must keep running. Output that a full disk did not take fails the command at its end.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (stream === process.stderr || error.code === 'EPIPE') return
    lost = error
    failIfLost()
  })

function failIfLost(): void {
  if (lost === undefined || process.exitCode !== EXIT.ok) return
  process.exitCode = EXIT.failed
  terminal.complain(`error: the output could not be written (${lost.code ?? lost.message})`)
}

process.exitCode = await runProgram(process.argv.slice(2), terminal)
failIfLost()
