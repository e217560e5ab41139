import { InvalidInput } from '@muster/core'
import { jsonFault, validate } from '@muster/core/validation'
import { readTicketInput } from '@muster/matchmaker/replay'
import { z } from 'zod'
import { CROWD_FORMAT, type CrowdHeader, type CrowdParty } from '../crowd.js'
import { InvalidCrowd } from './invalid-crowd.js'
import { refuseLong } from './split-lines.js'

/** A year in milliseconds: nothing in a crowd lasts longer. */
const YEAR_MS = 366 * 24 * 3_600_000
/** The year 2100 in epoch milliseconds. */
const LATEST = 4_102_444_800_000
const MOST_VISITS = 10_000

const id = z.string().min(1).max(128)
const durationMs = z.int().min(0).max(YEAR_MS)

const header = z.strictObject({
  format: z.literal(CROWD_FORMAT),
  startsAt: z.int().min(0).max(LATEST),
  durationMs: z.int().min(1).max(YEAR_MS),
  made: z
    .strictObject({
      seed: z
        .int()
        .min(0)
        .max(2 ** 32 - 1),
      parameters: z.unknown(),
      parties: z.int().min(1),
    })
    .optional(),
}) satisfies z.ZodType<CrowdHeader>

/** What is no part of a ticket. The rest is checked as that of a ticket. */
const party = z.strictObject({
  id,
  at: durationMs,
  players: z
    .array(z.looseObject({ region: id.optional(), truth: z.number().min(-1e9).max(1e9).optional() }))
    .min(1, 'must not be empty'),
  queues: z.array(id).optional(),
  priority: z.number().optional(),
  visits: z
    .array(
      z.strictObject({
        patienceMs: durationMs,
        accepts: z.boolean().optional(),
        playMs: durationMs,
        breakMs: durationMs.optional(),
      }),
    )
    .min(1)
    .max(MOST_VISITS),
}) as unknown as z.ZodType<CrowdParty>

/** @param number of the line, from 1. @throws {InvalidCrowd} */
export function readHeader(text: string, number: number): CrowdHeader {
  const value = jsonOf(text, number)
  if (typeof value !== 'object' || value === null || !('format' in value)) {
    throw new InvalidCrowd(number, '', `is no first line of a crowd, which has format: "${CROWD_FORMAT}"`)
  }
  return checked(header, value, number)
}

/** @throws {InvalidCrowd} */
export function readParty(text: string, number: number, { durationMs: untilMs }: CrowdHeader): CrowdParty {
  const value = checked(party, jsonOf(text, number), number)
  if (value.at >= untilMs) {
    throw new InvalidCrowd(number, 'at', `must be before the crowd's end, ${untilMs}, got ${value.at}`)
  }
  const missing = value.visits.findIndex(
    (visit, index) => index + 1 < value.visits.length && visit.breakMs === undefined,
  )
  if (missing !== -1) throw new InvalidCrowd(number, `visits.${missing}.breakMs`, 'is missing, and is no last visit')
  checkTicket(value, number)
  return value
}

/** Checks what a ticket has as the matchmaker does, so that no run refuses it for its form. */
function checkTicket({ players, queues, priority }: CrowdParty, line: number): void {
  const bare = players.map(({ region: _region, truth: _truth, ...player }) => player)
  try {
    readTicketInput({ players: bare, priority, ...(queues === undefined ? { queue: 'any' } : { queues }) })
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const field = error.field ?? ''
    throw new InvalidCrowd(
      line,
      field,
      error.message.replace(/^ticket: /, '').replace(field === '' ? '' : `${field}: `, ''),
    )
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, number: number): T {
  const result = validate(schema, value)
  // The value itself: what is written again has its names in the order in which they came.
  if (result.success) return value as T
  throw new InvalidCrowd(number, result.fault.field ?? '', result.fault.message)
}

/** @throws {InvalidCrowd} saying where the line stops being JSON. */
function jsonOf(text: string, number: number): unknown {
  refuseLong(text, number)
  try {
    return JSON.parse(text) as unknown
  } catch {
    const { column, wrong } = jsonFault(text) ?? { column: 1, wrong: 'is not as described' }
    const words = wrong === 'ends too early' || wrong === 'a text without an end' ? 'is torn' : 'is no JSON'
    throw new InvalidCrowd(number, '', `${words}: ${wrong}`, column)
  }
}
