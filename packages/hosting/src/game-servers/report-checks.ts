import { InvalidInput } from '@muster/core'
import { type HostedMatch, MOST_LEFT, type ServerRegistration, type ServerReport } from '../records/index.js'

/** Maximum size of a match's result in bytes of JSON, because thousands of results may wait for the backend. */
const LARGEST_RESULT_BYTES = 8192

/** Checks a report for contradictions. @throws {InvalidInput} with the field */
export function assertPossible({ matches }: ServerReport, registration: ServerRegistration): void {
  const refuse = (field: string, message: string) => new InvalidInput(`${field}: ${message}`, { field })
  const ids = new Set<string>()
  let served = 0
  for (const [index, { id: matchId, status, result: outcome, players }] of matches.entries()) {
    const at = `matches.${index}`
    if (ids.has(matchId)) throw refuse(`${at}.id`, `is listed twice, got ${JSON.stringify(matchId)}`)
    ids.add(matchId)
    if (status !== 'over' && status !== 'refused') served += 1
    if (outcome === undefined) continue
    if (status !== 'over')
      throw refuse(`${at}.result`, `is only for a match that is over, got ${JSON.stringify(status)}`)
    const bytes = Buffer.byteLength(JSON.stringify(outcome))
    if (bytes > LARGEST_RESULT_BYTES)
      throw refuse(`${at}.result`, `must have at most ${LARGEST_RESULT_BYTES} bytes as JSON, got ${bytes}`)
    const ranked = outcome.ranking?.flat() ?? []
    const listed = new Set<string>()
    const twice = ranked.find((one) => listed.size === listed.add(one).size)
    if (twice !== undefined) throw refuse(`${at}.result.ranking`, `lists player ${JSON.stringify(twice)} twice`)
    const stranger = ranked.find((one) => !Object.hasOwn(players, one))
    if (stranger !== undefined)
      throw refuse(`${at}.result.ranking`, `lists ${JSON.stringify(stranger)}, who is not among the players`)
  }
  if (served > registration.matches)
    throw refuse('matches', `must be at most ${registration.matches} at a time, as registered, got ${served}`)
}

/**
 * Checks that the rankings in a report contain only players who are or were in the match.
 * @throws {InvalidInput} with the field
 */
export function assertOwnPlayers({ matches }: ServerReport, served: readonly HostedMatch[]): void {
  const byId = new Map(served.map((own) => [own.id, own]))
  for (const [index, { id: matchId, result: outcome }] of matches.entries()) {
    const own = byId.get(matchId)
    // Only the latest `MOST_LEFT` players who left are known. If there may be more, the ranking cannot be checked.
    if (own === undefined || outcome?.ranking === undefined || own.left.length >= MOST_LEFT) continue
    const players = new Set([...own.playerIds, ...own.left.map(({ playerId }) => playerId)])
    const stranger = outcome.ranking.flat().find((one) => !players.has(one))
    if (stranger === undefined) continue
    const field = `matches.${index}.result.ranking`
    const message = `${field}: lists ${JSON.stringify(stranger)}, who has not played the match`
    throw new InvalidInput(message, { field })
  }
}
