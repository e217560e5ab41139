import { messageOf } from '@muster/core/internal'
import { type Finding, InvalidConfig } from '../config/index.js'

/** The output and the environment of a command. */
export interface Terminal {
  /** Writes lines of the result to the standard output. */
  say(text: string): void
  /**
   * Writes a part of a long result, and resolves once it is written. Resolves with false once the output has no reader,
   * e.g. after `head` has ended.
   */
  put(text: string): Promise<boolean>
  /** Writes lines about faults to the standard error. */
  complain(text: string): void
  /**
   * Replaces the line that was last drawn on the standard error. The line is cut to the terminal's width. An empty
   * string removes it. The function is undefined for files and pipes.
   */
  readonly draw?: ((line: string) => void) | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** The base folder of relative paths. */
  readonly folder: string
  /** True if the output of `say`, or of `complain`, is shown with colours. */
  readonly colours: { readonly say: boolean; readonly complain: boolean }
}

interface OutputStream {
  write(text: string, done?: (error?: Error | null) => void): boolean
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** Creates the terminal of a process. It uses no colours in files and pipes, nor if NO_COLOR is set. */
export function terminalOf(process: {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Terminal['env']
  cwd(): string
}): Terminal {
  const { stdout, stderr, env } = process
  const wanted = env['NO_COLOR'] === undefined || env['NO_COLOR'] === ''
  return {
    say: (text) => void stdout.write(`${text}\n`),
    put: (text) => new Promise((resolve) => stdout.write(text, (error) => resolve(!(error instanceof Error)))),
    complain: (text) => void stderr.write(`${text}\n`),
    ...(stderr.isTTY === true && {
      draw: (line: string) => void stderr.write(`\r${line.slice(0, (stderr.columns ?? 80) - 1)}\u{1B}[K`),
    }),
    env,
    folder: process.cwd(),
    colours: { say: wanted && stdout.isTTY === true, complain: wanted && stderr.isTTY === true },
  }
}

interface Paint {
  strong(text: string): string
  red(text: string): string
  yellow(text: string): string
  green(text: string): string
}

/**
 * Returns functions that colour a text, with codes that every terminal knows. Without `colours` they return the text
 * unchanged.
 */
export function paint(colours: boolean): Paint {
  const by = (code: number) => (text: string) => (colours ? `\u{1B}[${code}m${text}\u{1B}[0m` : text)
  return { strong: by(1), red: by(31), yellow: by(33), green: by(32) }
}

/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  /** The command was valid but failed. */
  failed: 1,
  /** A wrong command, option or configuration: nothing was done. */
  wrong: 2,
  /** Ended by Ctrl-C, as in shells: 128 plus the number of the signal. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Formats findings like a compiler does: the position, the fault, and the line with a mark. */
export function findingsText(file: string, findings: readonly Finding[], { strong, red, yellow }: Paint): string {
  return findings
    .map(({ severity, field, message, line, column, excerpt }) => {
      const place = strong(line === undefined ? file : `${file}:${line}:${column}`)
      const what = severity === 'error' ? red('error') : yellow('warning')
      const head = `${place}: ${what}: ${field === '' ? '' : `${field}: `}${message}`
      return excerpt === undefined ? head : `${head}\n${withMargin(excerpt, line)}`
    })
    .join('\n')
}

function withMargin(excerpt: string, line = 0): string {
  const number = `  ${line}`
  return excerpt
    .split('\n')
    .map((text, index) => `${index === 0 ? number : ' '.repeat(number.length)} | ${text}`)
    .join('\n')
}

/** Returns the numbers of findings, like `2 errors, 1 warning`. */
export function countsOf(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity']) => {
    const many = findings.filter((one) => one.severity === severity).length
    return many === 0 ? [] : [`${many} ${severity}${many === 1 ? '' : 's'}`]
  }
  return [...count('error'), ...count('warning')].join(', ')
}

/**
 * Prints why a configuration is rejected, or why the program does not start. Returns the exit code.
 * @param name the configuration's file name, if it differs from the path by which it was read.
 */
export function refusal(error: unknown, terminal: Terminal, name?: string): ExitCode {
  const { red } = paint(terminal.colours.complain)
  if (!(error instanceof InvalidConfig)) {
    terminal.complain(`${red('error')}: ${messageOf(error)}`)
    return EXIT.failed
  }
  const file = name ?? error.file
  terminal.complain(findingsText(file, error.findings, paint(terminal.colours.complain)))
  terminal.complain(`\n${file} cannot be used: ${countsOf(error.findings)}.`)
  return EXIT.wrong
}
