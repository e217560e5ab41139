// pure: server-sent events from text in pieces

/** One event of a stream of server-sent events. */
export interface ServerEvent {
  /** `message` where the stream names none. */
  readonly event: string
  readonly data: string
}

/**
 * Makes a parser of a stream of server-sent events (WHATWG HTML, 9.2.6), which takes the decoded text in pieces of any
 * size and returns the events that each piece ends. Ids and retry times are not used, and ignored.
 */
export function createEventParser(): (piece: string) => readonly ServerEvent[] {
  let rest = ''
  let isFirst = true
  let name = ''
  let data: string[] = []

  const line = (text: string): ServerEvent | undefined => {
    if (text === '') {
      const ended = data.length === 0 ? undefined : { event: name === '' ? 'message' : name, data: data.join('\n') }
      name = ''
      data = []
      return ended
    }
    const colon = text.indexOf(':')
    const field = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
    return undefined
  }

  return (piece) => {
    if (isFirst && piece !== '') {
      isFirst = false
      rest = piece.replace(/^\uFEFF/, '')
    } else rest += piece
    const events: ServerEvent[] = []
    let from = 0
    for (;;) {
      const end = /\r\n|\n|\r/g
      end.lastIndex = from
      const found = end.exec(rest)
      // A carriage return at the end of a piece may be the first half of a line's end.
      if (found === null || (found[0] === '\r' && end.lastIndex === rest.length)) break
      const event = line(rest.slice(from, found.index))
      if (event !== undefined) events.push(event)
      from = end.lastIndex
    }
    rest = rest.slice(from)
    return events
  }
}
