import { useEffect, useRef, useState } from 'preact/hooks'
import type { Found } from '../wire.js'
import { whyOf } from './api.js'
import { hrefOf } from './routes.js'
import { useStore } from './store-context.js'
import { timeOfDay } from './words.js'
import { StoryCard } from './story-card.js'

/** While a story is open it is asked for again so often. */
const AGAIN_MS = 3000

interface Answer {
  readonly id: string
  readonly found: Found | undefined
  readonly failure: string
}

/** One field for every id, and the stories that it leads to. */
export function FindView() {
  const { route, connection, announcer } = useStore()
  const id = route.value.view === 'find' ? route.value.id : undefined
  const answer = useFound(id)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (field.current !== null) field.current.value = id ?? ''
  }, [id])
  useEffect(() => {
    if (answer !== undefined && answer.id === id) announcer.say(summaryOf(answer))
  }, [answer?.id, answer?.failure, answer?.found?.stories.length])

  const submit = (event: Event) => {
    event.preventDefault()
    const wanted = field.current?.value.trim() ?? ''
    if (wanted !== '') location.hash = hrefOf('find', wanted)
  }
  return (
    <>
      <h1 class="view-title">Find</h1>
      <form class="find" role="search" onSubmit={submit}>
        <label for="wanted">Id of a player, ticket, match or server, or a server’s name or address</label>
        <div class="field-row">
          <input
            id="wanted"
            ref={field}
            type="search"
            aria-keyshortcuts="/"
            defaultValue={id ?? ''}
            autocomplete="off"
            spellcheck={false}
            maxLength={128}
          />
          <button type="submit" class="main">
            Find
          </button>
        </div>
      </form>
      <div class="stories" aria-busy={id !== undefined && answer?.id !== id}>
        {id === undefined ? <Hint /> : answer?.id === id ? <Stories answer={answer} /> : <p class="none">Looking …</p>}
        {id !== undefined && connection.value !== 'live' && answer?.found !== undefined ? (
          <p class="none">The server is away: this is the story as it was.</p>
        ) : null}
      </div>
    </>
  )
}

const Hint = () => (
  <section class="hint-card">
    <h2>Every id has a story</h2>
    <p>
      Type or paste the id of a player, a ticket, a match or a server, and read in the order of time what happened to
      it: when it was created, which rules relaxed, who was found, which server was deployed, and why it still waits.
    </p>
    <p class="none">
      Press <kbd>/</kbd> in any view to come here. Ids in the other views lead here too.
    </p>
  </section>
)

function Stories({ answer: { id, found, failure } }: { readonly answer: Answer }) {
  if (found === undefined) return <p class="failure">{failure}</p>
  if (found.stories.length === 0) {
    return (
      <section class="hint-card">
        <h2>Nothing is known of this id</h2>
        <p>
          No player, ticket, match or server <code>{id}</code> since {timeOfDay(found.since)}. Stories are kept for a
          bounded time, which <code>console.stories</code> in the configuration states.
        </p>
      </section>
    )
  }
  return (
    <>
      {found.stories.map((story) => (
        <StoryCard key={`${story.kind} ${story.id}`} story={story} />
      ))}
    </>
  )
}

function summaryOf({ id, found, failure }: Answer): string {
  if (found === undefined) return failure
  const [first] = found.stories
  return first === undefined ? `Nothing is known of ${id}.` : `${first.kind} ${first.id}: ${first.state}.`
}

/** The stories of an id, asked for again and again while they are open. */
function useFound(id: string | undefined): Answer | undefined {
  const { api, clock, connection, outcome } = useStore()
  const [answer, setAnswer] = useState<Answer>()
  const isLive = connection.value === 'live'
  const done = outcome.value
  useEffect(() => {
    if (id === undefined) return undefined
    const stopped = new AbortController()
    let cancel = () => {}
    const ask = async () => {
      try {
        const found = await api().find(id, stopped.signal)
        setAnswer({ id, found, failure: '' })
      } catch (error) {
        if (stopped.signal.aborted) return
        const failure = whyOf(error)
        setAnswer((before) =>
          before?.id === id && before.found !== undefined ? before : { id, found: undefined, failure },
        )
      }
      if (!stopped.signal.aborted) cancel = clock.after(AGAIN_MS, () => void ask())
    }
    void ask()
    return () => {
      stopped.abort()
      cancel()
    }
  }, [id, isLive, done])
  return answer
}
