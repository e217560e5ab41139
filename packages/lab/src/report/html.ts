// pure: HTML that cannot be broken by what is put into it

/** A piece of HTML. All texts in it are escaped. */
export interface Html {
  readonly html: string
}

type Inserted = Html | string | number | undefined | false | readonly Inserted[]

/** Makes HTML of a template: texts are escaped, pieces of HTML are not, and lists are joined. */
export const html = (parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Html => ({
  html: parts.map((part, index) => part + (index < inserted.length ? insert(inserted[index]) : '')).join(''),
})

/** HTML that is right as it is, e.g. of a library that escapes. */
export const trusted = (text: string): Html => ({ html: text })

function insert(value: Inserted): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value))
  return 'html' in value ? value.html : value.map(insert).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => plain(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string)

/**
 * A name from a file as it may be shown: without line breaks, and without what would move a terminal's cursor or turn
 * the direction of writing.
 */
export const plain = (name: string): string =>
  name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu, '�')

/** A text of at most so many characters. */
export const shortened = (text: string, most: number): string => {
  const characters = [...plain(text)]
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`
}
