import type { YAMLError } from 'yaml'

const FLOW = /^Flow (sequence|map)/

/**
 * What is wrong with a text that is no YAML, in words of our own: those of the library quote the text, which may be a
 * secret.
 */
export function yamlWords({ code, message }: Pick<YAMLError, 'code' | 'message'>, character: string): string {
  if (FLOW.test(message)) return message.includes('map') ? 'has a { without its }' : 'has a [ without its ]'
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'is indented by a tab: YAML wants spaces'
    case 'MULTIPLE_DOCS':
      return 'begins a second document: a configuration is one'
    case 'BAD_SCALAR_START':
      return `begins with ${character}, so it must stand in quotes`
    case 'MULTILINE_IMPLICIT_KEY':
      return 'is followed by a line that is indented too far'
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'has a second colon: a text with a colon in it must stand in quotes'
    case 'MISSING_CHAR':
      return missingWords(message)
    case 'BAD_INDENT':
      return 'is not indented like the lines that it belongs to'
    case 'BAD_DQ_ESCAPE':
      return 'has a backslash that means nothing: write two, or put the text in single quotes'
    case 'TAG_RESOLVE_FAILED':
      return 'has a tag, and tags are not known here: a secret is { env: NAME } or { file: path }'
    case 'NON_STRING_KEY':
      return 'is no name: names are texts'
    case 'RESOURCE_EXHAUSTION':
      return 'is nested too deeply'
    case 'BAD_ALIAS':
      return 'is an alias or an anchor without a name'
    case 'UNEXPECTED_TOKEN':
      return 'does not belong here: what stands before it has ended; look for a missing quote or a wrong indentation'
    default:
      return 'is no YAML'
  }
}

function missingWords(message: string): string {
  if (message.includes('quote')) return 'has a quote that is not closed'
  return message.startsWith('Sequence item')
    ? 'is not indented like the entry that it belongs to, or lacks the - of an entry'
    : 'has a name without a colon behind it'
}
