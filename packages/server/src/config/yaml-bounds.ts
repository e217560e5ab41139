import { CST, Lexer } from 'yaml'

/** Deepest nesting of lines, of brackets, and of both: that of rules within rules, and much room. */
const DEEPEST = 50
/** Most tokens of a text (names, values, marks, spaces): a thousand queues with rules, and much room. */
const MOST_TOKENS = 300_000

/** Where a text is more than anybody means, and why. */
export interface Excess {
  /** Offset in UTF-16 units. */
  readonly at: number
  readonly message: string
}

/**
 * Looks for what the parser must not be given. It calls itself for each level, so that a few thousand levels end the
 * process, and it takes a hundred times as long as this. Stops at the first place that is too much; takes time in
 * proportion to the text.
 */
export function excessIn(text: string, mostTokens = MOST_TOKENS): Excess | undefined {
  /** Columns at which the lists and mappings begin that are open, the outermost first. */
  const open: number[] = []
  let [at, lineAt, brackets, tokens] = [0, 0, 0, 0]
  let isLineBegun = false
  let isScalar = false

  const begin = () => {
    const column = at - lineAt
    while ((open.at(-1) ?? -1) >= column) open.pop()
    open.push(column)
  }
  for (const token of new Lexer().lex(text)) {
    const type: CST.TokenType | null = isScalar ? 'scalar' : CST.tokenType(token)
    isScalar = type === 'scalar' && !isScalar && token === CST.SCALAR
    switch (type) {
      case 'flow-seq-start':
      case 'flow-map-start':
        brackets += 1
        break
      case 'flow-seq-end':
      case 'flow-map-end':
        brackets = Math.max(0, brackets - 1)
        break
      case 'flow-error-end':
        brackets = 0
        break
      case 'seq-item-ind':
      case 'explicit-key-ind':
        if (brackets === 0) begin()
        isLineBegun = true
        break
      case 'newline':
        isLineBegun = false
        break
      case 'space':
      case 'comment':
      case 'byte-order-mark':
      case 'doc-mode':
        break
      default:
        if (isControl(token)) break
        if (brackets === 0 && !isLineBegun) begin()
        isLineBegun = true
    }
    tokens += 1
    if (open.length + brackets > DEEPEST) return { at, message: `is nested too deeply: more than ${DEEPEST} levels` }
    if (tokens > mostTokens) return { at, message: `has more than ${mostTokens} words and signs` }
    if (!isControl(token)) at += token.length
    const newline = isControl(token) ? -1 : token.lastIndexOf('\n')
    if (newline !== -1) lineAt = at - token.length + newline + 1
  }
  return undefined
}

/** Tokens that stand for no characters of the text. */
const isControl = (token: string) =>
  token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR
