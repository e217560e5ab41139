import { useComputed } from '@preact/signals'
import { useStore } from '../state/store-context.js'
import { ago, timeOfDay } from '../words.js'

/** How long ago a moment of the server's clock is, and when it was, as a tooltip. */
export function Ago({ at }: { readonly at: number }) {
  const { serverTime } = useStore()
  const text = useComputed(() => ago(at, serverTime.value))
  return (
    <time class="ago" dateTime={new Date(at).toISOString()} title={timeOfDay(at)}>
      {text}
    </time>
  )
}
