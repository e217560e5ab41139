import { InvalidCall } from './errors.js'

/** The result of a match. Muster passes it to the studio's backend. */
export interface MatchResult {
  /** Player ids, the best first. Players in an inner list share a rank. */
  readonly ranking?: readonly (readonly string[])[] | undefined
  /** Any other data. With the ranking, at most 8 KiB as JSON. */
  readonly data?: unknown
}

const LARGEST_RESULT_BYTES = 8192

/**
 * Returns a copy of a result, so that later changes of the game's object have no effect. Each report contains the
 * result until Muster has it, so one that Muster refuses would block all reports of the server.
 * @throws {InvalidCall} for a result that Muster would refuse
 */
export function checkedResult(
  given: MatchResult | undefined,
  players: { has(playerId: string): boolean },
): MatchResult | undefined {
  if (given === undefined || given === null) return undefined
  const text = jsonOf(given)
  const result: unknown = text === undefined ? undefined : JSON.parse(text)
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new InvalidCall('result', 'must be an object of `ranking` and `data`')
  const unknown = Object.keys(result).find((name) => name !== 'ranking' && name !== 'data')
  if (unknown !== undefined)
    throw new InvalidCall('result', `has the unknown member ${JSON.stringify(unknown)}: put it into \`data\``)
  if ('ranking' in result) checkRanking(result.ranking, players)
  const bytes = Buffer.byteLength(text ?? '')
  if (bytes > LARGEST_RESULT_BYTES)
    throw new InvalidCall('data', `the result must have at most ${LARGEST_RESULT_BYTES} bytes as JSON, got ${bytes}`)
  return result
}

function checkRanking(ranking: unknown, players: { has(playerId: string): boolean }): void {
  if (!isListOfLists(ranking)) throw new InvalidCall('ranking', 'must be a list of lists of player ids')
  const ranked = ranking.flat()
  const stranger = ranked.find((id) => typeof id !== 'string' || !players.has(id))
  if (stranger !== undefined)
    throw new InvalidCall('ranking', `${JSON.stringify(stranger)} is not a player of the match`)
  const twice = ranked.find((id, index) => ranked.indexOf(id) !== index)
  if (twice !== undefined) throw new InvalidCall('ranking', `lists ${JSON.stringify(twice)} twice`)
  if (ranking.some((ids) => ids.length === 0)) throw new InvalidCall('ranking', 'has a rank without players')
}

const isListOfLists = (value: unknown): value is readonly (readonly unknown[])[] =>
  Array.isArray(value) && value.every((item) => Array.isArray(item))

/** @returns undefined for what JSON cannot hold, e.g. a function. @throws {InvalidCall} e.g. for a BigInt */
function jsonOf(given: object): string | undefined {
  try {
    return JSON.stringify(given)
  } catch (error) {
    throw new InvalidCall('result', `cannot be written as JSON: ${String(error)}`)
  }
}
