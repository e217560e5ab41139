// pure: markup in which what comes from outside is text

/** Markup that is safe to send. Only `html` and `markup` make it. */
export interface Html {
  readonly markup: string
}

type Piece = string | number | Html | readonly Html[] | undefined

/**
 * A template of markup: strings and numbers are escaped, for text and for attributes in double quotes; undefined is
 * nothing.
 */
export const html = (template: TemplateStringsArray, ...pieces: readonly Piece[]): Html => ({
  markup: template.map((text, at) => text + written(pieces[at])).join(''),
})

/** Text of our own that is markup as it is. */
export const markup = (text: string): Html => ({ markup: text })

function written(piece: Piece): string {
  if (piece === undefined) return ''
  if (typeof piece === 'string' || typeof piece === 'number') return String(piece).replaceAll(/[&<>"']/g, escaped)
  return 'markup' in piece ? piece.markup : piece.map((each) => each.markup).join('')
}

const escaped = (character: string) => `&#${character.charCodeAt(0)};`
