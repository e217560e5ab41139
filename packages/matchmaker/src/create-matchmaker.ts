import { assemble } from './assembly.js'
import type { Matchmaker } from './commands/matchmaker.js'
import { createLoggedMatchmaker } from './logged-matchmaker.js'
import type { MatchmakerOptions } from './options.js'

/**
 * Creates a matchmaker: it groups tickets into matches and gets a server for each match.
 * @throws {InvalidInput} naming the option and the value.
 */
export const createMatchmaker = ({ ticketLog, ...options }: MatchmakerOptions): Matchmaker =>
  ticketLog === undefined ? assemble(options).matchmaker : createLoggedMatchmaker({ ...options, ticketLog })
