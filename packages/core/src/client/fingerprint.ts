import { createHash, type Hash } from 'node:crypto'

/** Characters hashed at a time. */
const CHUNK = 64 * 1024

/**
 * Returns a short text that is equal for equal JSON values only. Not recursive like JSON.stringify, because the service
 * may nest an answer too deeply for the stack.
 */
export function fingerprint(value: unknown): string {
  const hash = createHash('sha256')
  let text = ''
  const open: unknown[] = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (part instanceof Mark) text += part.text
    else if (typeof part === 'object' && part !== null) text += opened(part, open)
    else text += `${typeof part}${JSON.stringify(part)};`
    if (text.length > CHUNK) text = hashed(hash, text)
  }
  hash.update(text)
  return hash.digest('base64')
}

/** A marker on the stack of unread values: the name of the next value, or the end of an object or list. */
class Mark {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const END = new Mark('end;')

/** Pushes the values inside an object or list on the stack, the last one first. */
function opened(part: object, open: unknown[]): string {
  open.push(END)
  if (Array.isArray(part)) {
    for (let index = part.length - 1; index >= 0; index -= 1) open.push(part[index])
    return 'list;'
  }
  for (const [key, value] of Object.entries(part).toReversed()) open.push(value, new Mark(`${JSON.stringify(key)}:`))
  return 'object;'
}

function hashed(hash: Hash, text: string): string {
  hash.update(text)
  return ''
}
