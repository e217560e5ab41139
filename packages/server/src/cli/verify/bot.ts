import { type ChildProcess, spawn } from 'node:child_process'
import { until } from './until.js'

/** How a game's client is started, and what it is told. */
export interface BotOptions {
  readonly command: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The words of a command line: spaces part them, and quotes keep them together. */
export const wordsOf = (line: string): readonly string[] =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, one, other, bare]) => one ?? other ?? bare ?? '')

/** Milliseconds for which a client that was told to end has time. */
const END_MS = 2000

/**
 * A client of the game that connects with one join token. It writes a line `in` once it is let in, and stays until
 * SIGTERM or the end of the match; it exits before that if it is refused.
 */
export class Bot {
  readonly #child: ChildProcess
  #text = ''
  #hasEnded = false

  constructor({ command: [program = '', ...given], folder, env }: BotOptions) {
    this.#child = spawn(program, given, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = () => (this.#hasEnded = true)
    this.#child.once('error', (error) => {
      this.#text += String(error)
      ended()
    })
    this.#child.once('exit', ended)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (part: Buffer) => (this.#text = (this.#text + part.toString()).slice(-LONGEST_TEXT)))
  }

  /** Whether it was let in; undefined if it does not say so in time. */
  async isIn(withinMs: number): Promise<boolean | undefined> {
    const isIn = () => /^in\r?$/m.test(this.#text)
    await until(() => isIn() || this.#hasEnded, withinMs)
    return isIn() || (this.#hasEnded ? false : undefined)
  }

  /** Its last line. */
  get said(): string {
    return this.#text.trimEnd().split('\n').at(-1) ?? ''
  }

  /** SIGTERM, then SIGKILL. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    if (!(await until(() => this.#hasEnded, END_MS))) this.#child.kill('SIGKILL')
  }
}

const LONGEST_TEXT = 64 * 1024
