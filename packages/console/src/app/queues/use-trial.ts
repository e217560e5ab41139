import { useEffect, useRef, useState } from 'preact/hooks'
import type { Trial, TrialRequest } from '../../wire/index.js'
import { Refused, whyOf } from '../feed/api.js'
import { useStore } from '../state/store-context.js'

const AGAIN_MS = 300

export interface TrialState {
  readonly trial: Trial | undefined
  readonly isRunning: boolean
  /** Rejects with why the trial was refused. */
  readonly start: (request: TrialRequest) => Promise<void>
  readonly cancel: () => void
}

/** One trial at a time, followed until it has ended, and ended if the view is left. */
export function useTrial(): TrialState {
  const { api, clock, announcer } = useStore()
  const [trial, setTrial] = useState<Trial>()
  const current = useRef<{ id: string | undefined; stopWaiting: () => void }>({ id: undefined, stopWaiting: () => {} })

  const forget = () => {
    const { id, stopWaiting } = current.current
    stopWaiting()
    current.current = { id: undefined, stopWaiting: () => {} }
    // The server ends a trial that nobody asks for too.
    if (id !== undefined)
      api()
        .endTrial(id)
        .catch(() => {})
  }
  useEffect(() => forget, [])

  const follow = (id: string) => {
    current.current = { id, stopWaiting: clock.after(AGAIN_MS, () => void look(id)) }
  }
  const look = async (id: string) => {
    try {
      const seen = await api().trial(id)
      if (current.current.id !== id) return
      setTrial(seen)
      if (seen.state === 'running') return follow(id)
      current.current = { id: undefined, stopWaiting: () => {} }
      announcer.say(seen.state === 'done' ? 'The trial is done.' : `The trial failed: ${seen.error}`)
    } catch (error) {
      if (current.current.id !== id) return
      // While the server is away, the trial may still run.
      if (error instanceof Refused && error.status === 0) return follow(id)
      current.current = { id: undefined, stopWaiting: () => {} }
      setTrial((before) => before && { ...before, state: 'failed', error: whyOf(error) })
    }
  }
  return {
    trial,
    isRunning: trial?.state === 'running',
    start: async (request) => {
      forget()
      setTrial(undefined)
      const begun = await api().startTrial(request)
      setTrial(begun)
      if (begun.state === 'running') follow(begun.id)
    },
    cancel: () => {
      forget()
      setTrial(undefined)
      announcer.say('The trial was cancelled.')
    },
  }
}
