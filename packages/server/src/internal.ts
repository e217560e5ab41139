/** Exports for the other packages of this repository. They may change without notice. */
export { type Console, createConsole } from './console/console.js'
export type { ConsoleMatchmaker, ConsoleOptions } from './console/options.js'
export { runProgram } from './cli/program.js'
export { terminalOf } from './cli/terminal.js'
