// pure: a line of the log as people read it

/** `{"level":"info","time":"…","text":"listening","url":"…"}` as `12:00:01 info  listening  url=…`. */
export function textLine(json: string): string {
  const { level, time, text, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>
  const clock = String(time).slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => `  ${key}=${wordOf(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${oneLine(String(text))}${rest.join('')}\n`
}

/** Quoted where it would not be one word, so that no value can look like another field or line. */
function wordOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : value
  const word = typeof text === 'string' ? text : JSON.stringify(text)
  return /^[^\s"=]+$/.test(word) && !COMMANDS.test(word) ? word : quoted(word)
}

/** A terminal obeys control characters, and shows text in another order by format characters. */
const COMMANDS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

const oneLine = (text: string) => (COMMANDS.test(text) ? quoted(text) : text)

const quoted = (text: string) =>
  JSON.stringify(text).replaceAll(new RegExp(COMMANDS, 'gu'), (character) =>
    [...character].map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join(''),
  )
