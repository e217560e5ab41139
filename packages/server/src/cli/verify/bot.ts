import { type ChildProcess, spawn } from 'node:child_process'
import { until } from './until.js'

/** A client of the game, with one join token. */
export interface GameClient {
  /**
   * Resolves with true if the server admits the client, false if it refuses, and undefined if the client does not
   * report within `withinMs` milliseconds.
   */
  isIn(withinMs: number): Promise<boolean | undefined>
  /** The last output of the client, such as why it was refused. */
  readonly said: string
  /** Makes the client leave. */
  end(): Promise<void>
}

/** The start command of a game's client, and its input. */
export interface BotOptions {
  readonly command: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Splits a command line into words at spaces. Quotes keep words together. */
export const wordsOf = (line: string): readonly string[] =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, one, other, bare]) => one ?? other ?? bare ?? '')

/** Milliseconds that a client has to end after the signal. */
const END_MS = 2000

/**
 * A process of the game's client that connects with one join token. The process writes a line `in` once the server
 * admits it. It then stays until SIGTERM or the end of the match. If it is refused, it exits without that line. If this
 * process exits first, e.g. by Ctrl-C, the client is killed.
 */
export class Bot implements GameClient {
  readonly #child: ChildProcess
  #text = ''
  #hasEnded = false

  constructor({ command: [program = '', ...given], folder, env }: BotOptions) {
    this.#child = spawn(program, given, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const kill = () => void this.#child.kill('SIGKILL')
    process.once('exit', kill)
    const ended = () => {
      this.#hasEnded = true
      process.off('exit', kill)
    }
    this.#child.once('error', (error) => {
      this.#text += String(error)
      ended()
    })
    this.#child.once('exit', ended)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (part: Buffer) => (this.#text = (this.#text + part.toString()).slice(-LONGEST_TEXT)))
  }

  async isIn(withinMs: number): Promise<boolean | undefined> {
    const isIn = () => /^in\r?$/m.test(this.#text)
    await until(() => isIn() || this.#hasEnded, withinMs)
    return isIn() || (this.#hasEnded ? false : undefined)
  }

  /** The last informative line of the output, without the lines that Node.js adds to an unhandled error. */
  get said(): string {
    const lines = this.#text.split('\n').map((line) => line.trimEnd())
    return lines.findLast((line) => /^[^\s}]/.test(line) && !line.startsWith('Node.js v')) ?? this.#text.trim()
  }

  /** Sends SIGTERM, then SIGKILL. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    if (!(await until(() => this.#hasEnded, END_MS))) this.#child.kill('SIGKILL')
  }
}

/** The address and the join token for a client that another program starts. */
export interface JoinDetails {
  readonly host: string
  /** Port numbers by the name of the port. */
  readonly ports: Readonly<Record<string, number>>
  readonly token: string
}

/**
 * A client of the game that another program connects when it gets a POST. The response begins once the client is
 * admitted (2xx) or refused (any other status, with the reason as its body). A successful response lasts as long as the
 * client stays. Closing the connection makes the client leave.
 */
export class RemoteBot implements GameClient {
  readonly #ending = new AbortController()
  #isIn: boolean | undefined
  #text = ''

  constructor(url: string, joining: JoinDetails) {
    void this.#connect(url, joining)
  }

  async #connect(url: string, joining: JoinDetails): Promise<void> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(joining),
        redirect: 'error',
        signal: this.#ending.signal,
      })
      if (!answer.ok) this.#text = (await answer.text()).slice(-LONGEST_TEXT) || `status ${answer.status}`
      this.#isIn = answer.ok
    } catch (error) {
      this.#text = String(error instanceof Error ? (error.cause ?? error) : error)
      this.#isIn = false
    }
  }

  async isIn(withinMs: number): Promise<boolean | undefined> {
    await until(() => this.#isIn !== undefined, withinMs)
    return this.#isIn
  }

  get said(): string {
    return this.#text
  }

  end(): Promise<void> {
    this.#ending.abort()
    return Promise.resolve()
  }
}

const LONGEST_TEXT = 64 * 1024
