import { InvalidInput } from '@muster/core'
import { jsonFault, validate } from '@muster/core/internal'
import { readTicketInput } from '@muster/matchmaker/internal'
import { z } from 'zod'
import { type Crowd, CROWD_FORMAT, type CrowdHeader, type CrowdParty } from './crowd.js'

/** Thrown if a line of a crowd or a recording is invalid. The whole file is then rejected. */
export class InvalidCrowd extends InvalidInput {
  /** Number of the invalid line, from 1. */
  readonly line: number
  /** Column of the fault in UTF-16 units, from 1, if known. */
  declare readonly column?: number
  /** The fault. Its words follow the position and the field. */
  readonly wrong: string

  static {
    this.prototype.name = 'InvalidCrowd'
  }

  /** @param field path in the line, e.g. `visits.0.playMs`; '' for the line as a whole. */
  constructor(line: number, field: string, wrong: string, column?: number) {
    super(`line ${line}: ${field === '' ? '' : `${field}: `}${wrong}`, { field })
    this.line = line
    this.wrong = wrong
    if (column !== undefined) this.column = column
  }
}

/**
 * Maximum length of a line, in bytes or UTF-16 units (our choice: a party of 500 players with 64 latencies each is
 * shorter).
 */
const LONGEST_LINE = 2 ** 20
const LINE_FEED = 10
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Splits a file into lines, without line ends. Only one line is in memory at a time, so a file of any size needs little
 * memory.
 * @param chunks bytes of UTF-8, e.g. `createReadStream(path)`, or strings.
 * @throws {InvalidCrowd} at a line that is too long or is not UTF-8.
 */
export async function* splitLines(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  let number = 1
  // Only the new part is searched for a line end. Otherwise many small parts of a long line would take quadratic time.
  let [parts, length]: [Uint8Array[], number] = [[], 0]
  const add = (part: Uint8Array) => {
    length += part.length
    assertLineLength({ length }, number)
    parts.push(part)
  }
  const line = () => {
    const text = textOf(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts), number)
    ;[parts, length] = [[], 0]
    number += 1
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      add(bytes.subarray(from, end))
      yield line()
      from = end + 1
    }
    if (from < bytes.length) add(bytes.subarray(from))
  }
  if (length > 0) yield line()
}

function textOf(bytes: Uint8Array, number: number): string {
  try {
    return decoder.decode(bytes)
  } catch {
    const isGzip = number === 1 && bytes[0] === 0x1f && bytes[1] === 0x8b
    throw new InvalidCrowd(number, '', isGzip ? 'is compressed: unpack it by gunzip' : 'is not UTF-8')
  }
}

export function assertLineLength({ length }: { readonly length: number }, number: number): void {
  if (length > LONGEST_LINE) throw new InvalidCrowd(number, '', 'is longer than a mebibyte, 1048576 characters')
}

/** Maximum of any duration in a crowd: a year in milliseconds. */
const YEAR_MS = 366 * 24 * 3_600_000
/** Maximum of any time in a crowd: the year 2100 in epoch milliseconds. */
export const LATEST = 4_102_444_800_000
const MOST_VISITS = 10_000

const idText = z.string().min(1).max(128)
const durationMs = z.int().min(0).max(YEAR_MS)

const headerSchema = z.strictObject({
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

/** The fields of a party that a ticket does not have. `checkTicket` validates the others. */
const partySchema = z.strictObject({
  id: idText,
  at: durationMs,
  players: z
    .array(z.looseObject({ region: idText.optional(), truth: z.number().min(-1e9).max(1e9).optional() }))
    .min(1, 'must not be empty'),
  queues: z.array(idText).optional(),
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

/** Reads the header of a crowd. @param number number of the line, from 1. @throws {InvalidCrowd} */
function readHeader(text: string, number: number): CrowdHeader {
  const value = jsonOf(text, number)
  if (typeof value !== 'object' || value === null || !('format' in value)) {
    throw new InvalidCrowd(number, '', `is not the first line of a crowd: it must have format: "${CROWD_FORMAT}"`)
  }
  return checked(headerSchema, value, number)
}

/** Reads a party of a crowd. @throws {InvalidCrowd} */
function readParty(text: string, number: number, { durationMs: untilMs }: CrowdHeader): CrowdParty {
  const value = checked(partySchema, jsonOf(text, number), number)
  if (value.at >= untilMs) {
    throw new InvalidCrowd(number, 'at', `must be before the crowd's end, ${untilMs}, got ${value.at}`)
  }
  const missing = value.visits.findIndex(
    (visit, index) => index + 1 < value.visits.length && visit.breakMs === undefined,
  )
  if (missing !== -1)
    throw new InvalidCrowd(number, `visits.${missing}.breakMs`, 'is missing: only the last visit may omit it')
  checkTicket(value, number)
  return value
}

/** Validates the fields of a ticket like the matchmaker does, so that no run refuses the ticket for its form. */
function checkTicket({ players, queues, priority }: CrowdParty, line: number): void {
  const bare = players.map(({ region: _region, truth: _truth, ...player }) => player)
  inLine(line, () =>
    readTicketInput({ players: bare, priority, ...(queues === undefined ? { queue: 'any' } : { queues }) }),
  )
}

/**
 * Runs a reader of the matchmaker for a line, and returns its result. @throws {InvalidCrowd} with the matchmaker's
 * message.
 */
export function inLine<T>(number: number, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const { field = '', message } = error
    const words = message.replace(/^(recording, line \d+|ticket): /, '').replace(field === '' ? '' : `${field}: `, '')
    const torn = /is not JSON: .*(ends too early|a text without a closing quote)$/.exec(words)
    throw new InvalidCrowd(number, field, torn === null ? words : `is cut off: ${torn[1]}`)
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, number: number): T {
  const result = validate(schema, value)
  // Returns the original value, not the parsed one, so that a written crowd has its names in the original order.
  if (result.success) return value as T
  throw new InvalidCrowd(number, result.fault.field ?? '', result.fault.message)
}

/** Parses a line. @throws {InvalidCrowd} with the position at which the line stops being JSON. */
function jsonOf(text: string, number: number): unknown {
  assertLineLength(text, number)
  try {
    return JSON.parse(text) as unknown
  } catch {
    const { column, wrong } = jsonFault(text) ?? { column: 1, wrong: 'is invalid' }
    const words =
      wrong === 'ends too early' || wrong === 'a text without a closing quote' ? 'is cut off' : 'is not JSON'
    throw new InvalidCrowd(number, '', `${words}: ${wrong}`, column)
  }
}

/**
 * Reads a crowd, line by line.
 * @param lines from `splitLines`; empty lines are ignored.
 * @throws {InvalidCrowd} naming the line, the field and its value
 */
export async function readCrowd(lines: Iterable<string> | AsyncIterable<string>): Promise<Crowd> {
  let header: CrowdHeader | undefined
  const parties: CrowdParty[] = []
  const check = createOrderCheck()
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    if (header === undefined) {
      header = readHeader(text, number)
      continue
    }
    const party = readParty(text, number, header)
    check(party, number)
    parties.push(party)
  }
  if (header === undefined) throw new InvalidCrowd(1, '', 'is missing: the crowd is empty')
  if (parties.length === 0) throw new InvalidCrowd(number + 1, '', 'is missing: the crowd has no parties')
  const { made } = header
  if (made !== undefined && made.parties !== parties.length) {
    const words = `is missing: the crowd should have ${made.parties} parties, but has ${parties.length}`
    throw new InvalidCrowd(number + 1, '', `${words}; to use the crowd anyway, delete the field made of its first line`)
  }
  return { header, parties }
}

/** Creates the check that the ids of parties are unique and that parties are in order of arrival. */
function createOrderCheck(): (party: CrowdParty, number: number) => void {
  const ids = new Set<string>()
  let last = 0
  return ({ id, at }, number) => {
    const refuse = (field: string, wrong: string) => new InvalidCrowd(number, field, wrong)
    if (ids.has(id)) throw refuse('id', `is the id of an earlier party too, got ${JSON.stringify(id)}`)
    if (at < last) throw refuse('at', `must not be less than ${last}, the value of the line above, got ${at}`)
    ids.add(id)
    last = at
  }
}

/**
 * Number of UTF-16 units that are written together (our choice). A write for each line would take longer than creating
 * the line.
 */
const CHUNK = 2 ** 16

/**
 * Writes a crowd as lines of JSON: its header, then its parties. Only little of the output is buffered.
 * @param write resolves when more may be written. It returns false to end the writing, because the reader has gone.
 */
export async function writeCrowd(
  { header, parties }: { readonly header: CrowdHeader; readonly parties: Iterable<CrowdParty> },
  write: (text: string) => boolean | void | Promise<boolean | void>,
): Promise<void> {
  let text = `${JSON.stringify(header)}\n`
  for (const party of parties) {
    text += `${JSON.stringify(party)}\n`
    if (text.length < CHUNK) continue
    if ((await write(text)) === false) return
    text = ''
  }
  if (text !== '') await write(text)
}
