import { useEffect, useRef, useState } from 'preact/hooks'
import { grouped } from '../../parts/index.js'
import type { Trial, TrialRequest, TrialResult, TrialSide } from '../../wire.js'
import { RequestRefused, whyOf } from '../api.js'
import { useStore } from '../store-context.js'
import { hourAndMinute, percent, wait } from '../words.js'
import { number, TableHead } from '../elements.js'

/** Shows the progress of a trial, or its results beside the current ones. */
export function TrialReport({ trial, cancel }: { readonly trial: Trial | undefined; readonly cancel: () => void }) {
  if (trial === undefined) return <div class="trial" />
  if (trial.state === 'running') {
    return (
      <div class="trial running">
        <label for="trial-progress">Replaying the last hour</label>
        <progress id="trial-progress" max={1} value={trial.progress} />
        <span class="number">{percent(trial.progress)}</span>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    )
  }
  if (trial.state === 'failed' || trial.result === null) {
    return (
      <div class="trial">
        <p class="failure">{trial.error ?? 'The trial failed.'}</p>
      </div>
    )
  }
  return (
    <div class="trial">
      <Result result={trial.result} />
    </div>
  )
}

interface TrialRow {
  readonly name: string
  readonly of: (side: TrialSide) => number | null
  readonly say: (value: number) => string
  /** True: a lower value is better. False: a higher value is better. Undefined: neither is better. */
  readonly isLessBetter?: boolean
}

const rows: readonly TrialRow[] = [
  { name: 'Matches', of: ({ matches }) => matches, say: grouped, isLessBetter: false },
  { name: 'Tickets matched', of: ({ matchedShare }) => matchedShare, say: percent, isLessBetter: false },
  { name: 'Wait p50', of: ({ waitP50 }) => waitP50, say: wait, isLessBetter: true },
  { name: 'Wait p95', of: ({ waitP95 }) => waitP95, say: wait, isLessBetter: true },
  {
    name: 'Distance between players',
    of: ({ meanKm }) => meanKm,
    say: (km) => `${grouped(Math.round(km))} km`,
    isLessBetter: true,
  },
]

function Result({
  result: { from, to, tickets, missing, asIs, changed, sentences },
}: {
  readonly result: TrialResult
}) {
  const spreads = asIs.spreads.map(({ attribute }): TrialRow => ({
    name: `Spread of ${attribute}`,
    of: (side) => side.spreads.find((spread) => spread.attribute === attribute)?.mean ?? null,
    say: (mean) => grouped(Math.round(mean * 10) / 10),
    isLessBetter: true,
  }))
  return (
    <>
      <h3>What the last hour would have been</h3>
      <ul class="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <table class="trial-table">
        <caption>
          {grouped(tickets)} tickets from {hourAndMinute(from)} to {hourAndMinute(to)}, replayed with both
        </caption>
        <TableHead columns={['', number('As it is'), number('With the change'), number('Difference')]} />
        <tbody>
          {[...rows, ...spreads].map((row) => (
            <Compared key={row.name} row={row} asIs={row.of(asIs)} changed={row.of(changed)} />
          ))}
        </tbody>
      </table>
      {missing.length === 0 ? null : <p class="none">{missing.join(' ')}</p>}
    </>
  )
}

interface ComparedProps {
  readonly row: TrialRow
  readonly asIs: number | null
  readonly changed: number | null
}

function Compared({ row: { name, say, isLessBetter }, asIs, changed }: ComparedProps) {
  const difference = asIs === null || changed === null ? null : changed - asIs
  const isBetter = difference !== null && difference !== 0 && difference < 0 === isLessBetter
  const tone = difference === null || difference === 0 ? '' : isBetter ? 'better' : 'worse'
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{asIs === null ? '–' : say(asIs)}</td>
      <td class="number">{changed === null ? '–' : say(changed)}</td>
      <td class={`number ${tone}`}>{inWords(difference, say)}</td>
    </tr>
  )
}

function inWords(difference: number | null, say: (value: number) => string): string {
  if (difference === null) return '–'
  if (difference === 0) return 'the same'
  return `${difference > 0 ? '+' : '−'}${say(Math.abs(difference))}`
}

const AGAIN_MS = 300

/** Runs one trial at a time, and follows it until it ends. If the user leaves the view, the trial is cancelled. */
export function useTrial() {
  const { api, clock, announcer } = useStore()
  const [trial, setTrial] = useState<Trial>()
  const current = useRef<{ id: string | undefined; stopWaiting: () => void }>({ id: undefined, stopWaiting: () => {} })

  const forget = () => {
    const { id, stopWaiting } = current.current
    stopWaiting()
    current.current = { id: undefined, stopWaiting: () => {} }
    // An error is ignored, because the server itself ends a trial that is no longer polled.
    if (id !== undefined)
      api()
        .endTrial(id)
        .catch(() => {})
  }
  useEffect(() => forget, [])

  const follow = (id: string) => {
    current.current = { id, stopWaiting: clock.after(AGAIN_MS, () => void poll(id)) }
  }
  const poll = async (id: string) => {
    try {
      const seen = await api().trial(id)
      if (current.current.id !== id) return
      setTrial(seen)
      if (seen.state === 'running') return follow(id)
      current.current = { id: undefined, stopWaiting: () => {} }
      announcer.say(seen.state === 'done' ? 'The trial is done.' : `The trial failed: ${seen.error}`)
    } catch (error) {
      if (current.current.id !== id) return
      // If the server does not respond, the trial may still run.
      if (error instanceof RequestRefused && error.status === 0) return follow(id)
      current.current = { id: undefined, stopWaiting: () => {} }
      setTrial((before) => before && { ...before, state: 'failed', error: whyOf(error) })
    }
  }
  return {
    trial,
    isRunning: trial?.state === 'running',
    /** Starts a trial. Rejects with the reason of a refusal. */
    start: async (request: TrialRequest) => {
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
