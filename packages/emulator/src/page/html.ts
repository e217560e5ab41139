// pure: markup with values escaped

/** Markup that is safe to send. Only `html` and `markup` create it. */
export interface Html {
  readonly markup: string
}

type Piece = string | number | Html | readonly Html[] | undefined

/**
 * A template of markup. Strings and numbers are escaped, for text and for attributes in double quotes; undefined
 * inserts nothing.
 */
export const html = (template: TemplateStringsArray, ...pieces: readonly Piece[]): Html => ({
  markup: template.map((text, at) => text + written(pieces[at])).join(''),
})

/** Markup from a trusted text of our own, inserted without escaping. */
export const markup = (text: string): Html => ({ markup: text })

function written(piece: Piece): string {
  if (piece === undefined) return ''
  if (typeof piece === 'string' || typeof piece === 'number') return String(piece).replaceAll(/[&<>"']/g, escaped)
  return 'markup' in piece ? piece.markup : piece.map((each) => each.markup).join('')
}

const escaped = (character: string) => `&#${character.charCodeAt(0)};`
