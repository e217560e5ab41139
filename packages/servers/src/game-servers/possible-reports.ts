import { InvalidInput } from '@muster/core'
import { LARGEST_RESULT_BYTES, type ServerRegistration, type ServerReport } from './server-reports.js'

/** @throws {InvalidInput} naming the field, for a state that cannot be */
export function assertPossible({ matches }: ServerReport, registration: ServerRegistration): void {
  const refuse = (field: string, message: string) => new InvalidInput(`${field}: ${message}`, { field })
  const ids = new Set<string>()
  let served = 0
  for (const [index, { id, status, result, players }] of matches.entries()) {
    const at = `matches.${index}`
    if (ids.has(id)) throw refuse(`${at}.id`, `is listed twice, got ${JSON.stringify(id)}`)
    ids.add(id)
    if (status !== 'over' && status !== 'refused') served += 1
    if (result === undefined) continue
    if (status !== 'over')
      throw refuse(`${at}.result`, `is only for a match that is over, got ${JSON.stringify(status)}`)
    const bytes = Buffer.byteLength(JSON.stringify(result))
    if (bytes > LARGEST_RESULT_BYTES)
      throw refuse(`${at}.result`, `must have at most ${LARGEST_RESULT_BYTES} bytes as JSON, got ${bytes}`)
    const ranked = result.ranking?.flat() ?? []
    const twice = ranked.find((one, nth) => ranked.indexOf(one) !== nth)
    if (twice !== undefined) throw refuse(`${at}.result.ranking`, `lists player ${JSON.stringify(twice)} twice`)
    const stranger = ranked.find((one) => !Object.hasOwn(players, one))
    if (stranger !== undefined)
      throw refuse(`${at}.result.ranking`, `lists ${JSON.stringify(stranger)}, who is not among the players`)
  }
  if (served > registration.matches)
    throw refuse('matches', `must be at most ${registration.matches} at a time, as registered, got ${served}`)
}
