import { signal, type ReadonlySignal } from '@preact/signals'
import type { Clock } from '../clock.js'

const QUIET_MS = 4000

/** What screen readers are told, without chatter: a sentence in four seconds, the last of those that came together. */
export interface Announcer {
  readonly said: ReadonlySignal<string>
  readonly say: (sentence: string) => void
}

export function createAnnouncer(clock: Clock): Announcer {
  const said = signal('')
  let next: string | undefined
  let isQuiet = true
  const rest = () => {
    isQuiet = false
    clock.after(QUIET_MS, () => {
      isQuiet = true
      if (next !== undefined) speak(next)
    })
  }
  const speak = (sentence: string) => {
    next = undefined
    // The same words again are only heard if the text changes.
    said.value = said.value === sentence ? `${sentence}\u00a0` : sentence
    rest()
  }
  return {
    said,
    say: (sentence) => {
      if (isQuiet) speak(sentence)
      else next = sentence
    },
  }
}
