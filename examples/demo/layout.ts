// pure: text that fits a terminal

/** The size of a terminal, in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The assumed size if the output is no terminal. */
export const PAPER: Size = { columns: 120, rows: Infinity }

export const sizeOf = ({ columns, rows, isTTY }: NodeJS.WriteStream): Size =>
  isTTY ? { columns: columns || PAPER.columns, rows: rows || PAPER.rows } : PAPER

/**
 * Wraps a text at spaces into lines of at most `width` characters. Longer words are cut. No-break spaces do not wrap.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + 1 + word.length <= width) lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    else if (line === '') lines[lines.length - 1] = word.slice(0, width)
    else lines.push(word.slice(0, width))
  }
  return lines
}

/** Returns a name with its text. Further lines of the text are indented below the first. */
export function row(name: string, text: string, columns: number, nameWidth = 16): readonly string[] {
  const [first = '', ...others] = wrap(text, Math.max(10, columns - nameWidth - 3))
  return [`  ${name.padEnd(nameWidth)} ${first}`, ...others.map((line) => `  ${' '.repeat(nameWidth)} ${line}`)]
}

/** Shortens a text to the number of rows: first empty lines are removed, then lines at the end. */
export function fitted(lines: readonly string[], rows: number): readonly string[] {
  const kept = [...lines]
  while (kept.length > rows) {
    const empty = kept.lastIndexOf('')
    if (empty === -1) return kept.slice(0, rows)
    kept.splice(empty, 1)
  }
  return kept
}
