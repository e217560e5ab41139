import type { Clock } from '@muster/core/clock'
import type { TailOptions } from '../../stream/follow-stream.js'

interface MemoryRead<T> {
  readonly entries: readonly T[]
  readonly gap: boolean
  readonly cursor: string
}

/** Entries in order, of which the newest `most` are kept. They are read from a cursor on. */
export class MemoryLog<T> {
  readonly #life: string
  readonly #most: number
  #entries: T[] = []
  /** Total number of added entries. */
  #added = 0
  #waiting = new Set<() => void>()

  /** @param life unique name of this log. A cursor of another log counts as lying before a gap. */
  constructor(life: string, most: number) {
    this.#life = life
    this.#most = most
  }

  add(entry: T): void {
    this.#entries.push(entry)
    this.#added += 1
    if (this.#entries.length > this.#most) this.#entries.shift()
    this.wake()
  }

  wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Returns the stored entries. */
  all(): readonly T[] {
    return this.#entries
  }

  end(): string {
    return `${this.#life}:${this.#added}`
  }

  /** Returns the entries after a cursor. @param limit maximum number of entries. */
  read(after: string, limit = Infinity): MemoryRead<T> {
    const [life, number] = after.split(':')
    const first = this.#added - this.#entries.length
    const at = life === this.#life ? Number(number) : -1
    const from = Math.max(first, at)
    const entries = this.#entries.slice(from - first, from - first + limit)
    return { entries, gap: at < first, cursor: `${this.#life}:${from + entries.length}` }
  }

  /** Waits until there is an entry after the cursor, or the time is over. */
  async wait(after: string, { blockMs, signal }: TailOptions, clock: Clock): Promise<void> {
    signal?.throwIfAborted()
    if (blockMs <= 0 || after !== this.end()) return
    const woken = new AbortController()
    const wake = () => woken.abort()
    this.#waiting.add(wake)
    try {
      const either = signal === undefined ? woken.signal : AbortSignal.any([woken.signal, signal])
      await clock.sleep(blockMs, either).catch(() => {})
    } finally {
      this.#waiting.delete(wake)
    }
    signal?.throwIfAborted()
  }
}
