import { useEffect } from 'preact/hooks'
import type { FoundStories } from '../wire.js'
import { useFind } from './elements.js'
import { usePolled, useStore } from './store-context.js'
import { timeOfDay } from './words.js'
import { StoryCard } from './story-card.js'

/** Milliseconds between two fetches of an open story, which is what happened to a player, ticket, match or server. */
const AGAIN_MS = 3000

/** Shows a field that accepts any id, and the stories found for it. */
export function FindView() {
  const { route } = useStore()
  const id = route.value.view === 'find' ? route.value.id : undefined
  const { field, submit, input } = useFind()
  useEffect(() => {
    if (field.current !== null) field.current.value = id ?? ''
  }, [id])
  return (
    <>
      <h1 class="view-title">Find</h1>
      <form class="find" role="search" onSubmit={submit}>
        <label for="wanted">Id of a player, ticket, match or server, or a server’s name or address</label>
        <div class="field-row">
          <input {...input} id="wanted" defaultValue={id ?? ''} />
          <button type="submit" class="main">
            Find
          </button>
        </div>
      </form>
      {id === undefined ? <Hint /> : <Stories key={id} id={id} />}
    </>
  )
}

const Hint = () => (
  <div class="stories">
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
  </div>
)

/** Shows the stories of an id. They are fetched repeatedly while they are open. */
function Stories({ id }: { readonly id: string }) {
  const { connection, announcer } = useStore()
  const { answer: found, failure } = usePolled((api, signal) => api.find(id, signal), AGAIN_MS)
  const summary = found === undefined ? failure : summaryOf(found)
  useEffect(() => {
    if (summary !== undefined) announcer.say(summary)
  }, [found === undefined ? failure : found.stories.length])
  return (
    <div class="stories" aria-busy={summary === undefined}>
      {found === undefined ? (
        <p class={failure === undefined ? 'none' : 'failure'}>{failure ?? 'Looking …'}</p>
      ) : found.stories.length === 0 ? (
        <section class="hint-card">
          <h2>Nothing was found for this id</h2>
          <p>
            No player, ticket, match or server <code>{id}</code> since {timeOfDay(found.since)}. Stories are kept for a
            bounded time, which <code>console.stories</code> in the configuration states.
          </p>
        </section>
      ) : (
        found.stories.map((story) => <StoryCard key={`${story.kind} ${story.id}`} story={story} />)
      )}
      {connection.value !== 'live' && found !== undefined ? (
        <p class="none">The server is away: this is the story as it was.</p>
      ) : null}
    </div>
  )
}

function summaryOf({ id, stories: [first] }: FoundStories): string {
  return first === undefined ? `Nothing was found for ${id}.` : `${first.kind} ${first.id}: ${first.state}.`
}
