/**
 * A mask of fields as in the X-Fields header: `{name,owner{id},pagination}`, outer braces optional, `*` for all other
 * fields. Unknown fields are ignored. The document only names the header; the syntax is that of Flask-RESTX, where the
 * header comes from (our choice). Pure.
 */
export type Mask = ReadonlyMap<string, Mask | undefined>

/** The reason why a text is not a mask, for an error message. */
export interface BadMask {
  readonly problem: string
}

export function parseMask(text: string): Mask | BadMask {
  const tokens = text.replaceAll(/\s/g, '').match(/[{},]|[^{},]+/g) ?? []
  let at = 0

  const fields = (): Mask | BadMask => {
    const mask = new Map<string, Mask | undefined>()
    do {
      const name = tokens[at++]
      if (name === undefined || !/^(?:[\w:-]+|\*)$/.test(name))
        return { problem: `expected a field, not ${shown(name)}` }
      mask.set(name, undefined)
      if (tokens[at] === '{') {
        at++
        const nested = fields()
        if ('problem' in nested) return nested
        if (tokens[at++] !== '}') return { problem: `the brace after ${name} is not closed` }
        mask.set(name, nested)
      }
    } while (tokens[at] === ',' && ++at > 0)
    return mask
  }

  const braced = tokens[0] === '{'
  if (braced) at++
  const mask = fields()
  if ('problem' in mask) return mask
  if (braced && tokens[at++] !== '}') return { problem: 'the outer brace is not closed' }
  return at < tokens.length ? { problem: `${shown(tokens[at])} comes after the end` } : mask
}

const shown = (token: string | undefined) => (token === undefined ? 'the end' : JSON.stringify(token))

/**
 * Applies the mask to a value: objects keep only the masked fields, lists are masked item by item, and other values
 * stay.
 */
export function applyMask(mask: Mask, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => applyMask(mask, item))
  if (typeof value !== 'object' || value === null) return value
  const all = mask.has('*')
  const kept = Object.entries(value).filter(([key]) => all || mask.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      const nested = mask.get(key)
      return [key, nested === undefined ? inner : applyMask(nested, inner)]
    }),
  )
}
