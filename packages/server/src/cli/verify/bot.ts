import { type ChildProcess, spawn } from 'node:child_process'
import { until } from './until.js'

/** A client of the game, with one join token. */
export interface GameClient {
  /** Whether it was let in; undefined if it does not say so in time. */
  isIn(withinMs: number): Promise<boolean | undefined>
  /** What it said last, such as why it was refused. */
  readonly said: string
  /** It leaves. */
  end(): Promise<void>
}

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
export class Bot implements GameClient {
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

  async isIn(withinMs: number): Promise<boolean | undefined> {
    const isIn = () => /^in\r?$/m.test(this.#text)
    await until(() => isIn() || this.#hasEnded, withinMs)
    return isIn() || (this.#hasEnded ? false : undefined)
  }

  /** Its last line that tells something: what Node.js adds to an error that nobody handles does not. */
  get said(): string {
    const lines = this.#text.split('\n').map((line) => line.trimEnd())
    return lines.findLast((line) => /^[^\s}]/.test(line) && !line.startsWith('Node.js v')) ?? this.#text.trim()
  }

  /** SIGTERM, then SIGKILL. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    if (!(await until(() => this.#hasEnded, END_MS))) this.#child.kill('SIGKILL')
  }
}

/** Where a client that is not started here is to connect, and with which token. */
export interface Joining {
  readonly host: string
  /** By the name of the port. */
  readonly ports: Readonly<Record<string, number>>
  readonly token: string
}

/**
 * A client of the game that some program connects when it gets a POST. The answer begins once the client is let in
 * (2xx) or refused (anything else, with the reason as its text), and a good one lasts for as long as the client stays.
 * The connection is closed when the client is to leave.
 */
export class RemoteBot implements GameClient {
  readonly #ending = new AbortController()
  #isIn: boolean | undefined
  #text = ''

  constructor(url: string, joining: Joining) {
    void this.#connect(url, joining)
  }

  async #connect(url: string, joining: Joining): Promise<void> {
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
