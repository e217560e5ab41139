import { useStore } from '../state/store-context.js'

/** Pauses or resumes a queue, after it was asked. */
export function PauseButton({ queue, isPaused }: { readonly queue: string; readonly isPaused: boolean }) {
  const { may, question, api, connection } = useStore()
  if (!may('rules')) return null
  const ask = () => {
    question.value = isPaused
      ? {
          title: `Resume ${queue}?`,
          text: ['Matches are made in it again, of those who waited meanwhile too.'],
          verb: 'Resume the queue',
          done: `${queue} goes on.`,
          isHarsh: false,
          act: () => api().setPaused(queue, false),
        }
      : {
          title: `Pause ${queue}?`,
          text: ['No match is made in it until it is resumed. Who waits in it waits on, and matches that run go on.'],
          verb: 'Pause the queue',
          done: `${queue} is paused.`,
          isHarsh: true,
          act: () => api().setPaused(queue, true),
        }
  }
  return (
    <button type="button" class={isPaused ? 'main' : 'harsh'} disabled={connection.value !== 'live'} onClick={ask}>
      {isPaused ? 'Resume' : 'Pause'}
    </button>
  )
}
