/** What `@muster/server` offers to programs: the same that the command `muster` does. */
export { version } from './version.js'
export { createConsole, type Console } from './console/console.js'
export type {
  Act,
  ApplyQueue,
  ConsoleMatchmaker,
  ConsoleOptions,
  ConsoleSpending,
  Operator,
} from './console/options.js'
