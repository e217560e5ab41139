import { useEffect, useState } from 'preact/hooks'
import type { QueueCard } from '../../wire.js'
import { whyOf } from '../api.js'
import { hrefOf } from '../routes.js'
import { useStore } from '../store-context.js'
import { Curves } from './curves.js'
import { Editor } from './editor.js'

/** Shows a button that pauses or resumes a queue, after a confirmation. */
function PauseButton({ queue, isPaused }: { readonly queue: string; readonly isPaused: boolean }) {
  const { may, question, api, connection } = useStore()
  if (!may('rules')) return null
  const ask = () => {
    question.value = isPaused
      ? {
          title: `Resume ${queue}?`,
          text: ['The queue makes matches again, also for players who waited during the pause.'],
          verb: 'Resume the queue',
          done: `${queue} is resumed.`,
          isDestructive: false,
          act: () => api().setPaused(queue, false),
        }
      : {
          title: `Pause ${queue}?`,
          text: [
            'The queue makes no matches until it is resumed. Its players keep waiting, and running matches continue.',
          ],
          verb: 'Pause the queue',
          done: `${queue} is paused.`,
          isDestructive: true,
          act: () => api().setPaused(queue, true),
        }
  }
  return (
    <button type="button" class={isPaused ? 'main' : 'harsh'} disabled={connection.value !== 'live'} onClick={ask}>
      {isPaused ? 'Resume' : 'Pause'}
    </button>
  )
}

/** Shows what each queue does, with an editor to change it. */
export function QueuesView() {
  const { route } = useStore()
  const { cards, failure, readAgain } = useCards()
  const wanted = route.value.view === 'queues' ? route.value.queue : undefined
  const card = cards?.find(({ name }) => name === wanted) ?? cards?.[0]
  return (
    <>
      <h1 class="view-title">Queues</h1>
      {cards === undefined ? (
        <p class={failure === '' ? 'none' : 'failure'}>{failure === '' ? 'Looking …' : failure}</p>
      ) : cards.length === 0 ? (
        <section class="hint-card">
          <h2>The configuration has no queue</h2>
          <p>
            Add one below <code>queues:</code> in the configuration file; the program takes the file up as soon as it is
            saved.
          </p>
        </section>
      ) : (
        <div class="queues-layout">
          <nav class="queue-list" aria-label="Queues">
            {cards.map(({ name }) => (
              <a key={name} href={hrefOf('queues', name)} aria-current={name === card?.name ? 'true' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          {card === undefined ? null : <Card key={card.name} card={card} readAgain={readAgain} />}
        </div>
      )}
    </>
  )
}

function Card({ card, readAgain }: { readonly card: QueueCard; readonly readAgain: () => void }) {
  const { now } = useStore()
  const isPaused = now.value?.queues.find(({ name }) => name === card.name)?.paused
  return (
    <div class="queue-card">
      <section aria-labelledby="meaning">
        <div class="story-head">
          <h2 id="meaning">
            {card.name} <small>version {card.version}</small>
            {isPaused === true ? <span class="status paused">paused</span> : null}
          </h2>
          {isPaused === undefined ? null : <PauseButton queue={card.name} isPaused={isPaused} />}
        </div>
        <ul class="sentences">
          {card.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <Curves curves={card.curves} />
      </section>
      <Editor card={card} readAgain={readAgain} />
    </div>
  )
}

/** Returns the queues. They are fetched when the view opens, when the server reconnects, and after a change. */
function useCards() {
  const { api, hello } = useStore()
  const [cards, setCards] = useState<readonly QueueCard[]>()
  const [failure, setFailure] = useState('')
  const [reads, setReads] = useState(0)
  const greeting = hello.value
  useEffect(() => {
    const stopped = new AbortController()
    api()
      .queues(stopped.signal)
      .then(({ queues }) => {
        setCards(queues)
        setFailure('')
      })
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) setFailure(whyOf(error))
      })
    return () => stopped.abort()
  }, [reads, greeting])
  return { cards, failure, readAgain: () => setReads((count) => count + 1) }
}
