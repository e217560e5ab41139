import { LOG_HEADER, linesOf, type LogRecord } from './log-lines.js'

/** Characters of a part: a millisecond or two of work, between which the event loop runs. */
const PART = 2 ** 17
/** How often lines that came meanwhile are added while others still come. What comes after that is written at once. */
const TRIES = 8

/**
 * The whole log as it is now, in parts. Records may change while the parts are written, so the lines that came
 * meanwhile follow, which is harmless for records that have them already.
 * @param taken returns those lines, and forgets them.
 */
export async function* liveParts(
  sources: ReadonlyMap<string, () => Iterable<LogRecord>>,
  taken: () => string,
): AsyncGenerator<string> {
  let part = LOG_HEADER
  for (const [kind, records] of sources) {
    for (const record of records()) {
      part += linesOf(kind, record)
      if (part.length < PART) continue
      yield part
      part = ''
    }
  }
  yield part
  for (let tries = 0; tries < TRIES; tries += 1) {
    const more = taken()
    if (more === '') return
    yield more
    if (more.length < PART) return
  }
}
