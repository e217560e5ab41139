import { assemble } from './assembly.js'
import { guarded } from './commands/guard.js'
import type { Matchmaker } from './commands/matchmaker.js'
import { createLoggedMatchmaker } from './logged-matchmaker.js'
import type { MatchmakerOptions } from './options.js'

/**
 * Creates a matchmaker: it groups tickets into matches and gets a server for each match.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createMatchmaker({ ticketLog, ...options }: MatchmakerOptions): Matchmaker {
  if (ticketLog !== undefined) return createLoggedMatchmaker({ ...options, ticketLog })
  const { matchmaker, refuseUnlessReady } = assemble(options)
  return options.journal === undefined ? matchmaker : guarded(matchmaker, { before: refuseUnlessReady })
}
