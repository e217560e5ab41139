import { Fragment } from 'preact'
import { useId } from 'preact/hooks'
import { grouped } from '../parts/index.js'
import type { Action, Permission, Story, StoryAction, StoryEvent, StoryExplanation, StoryKind } from '../wire.js'
import { hrefOf } from './routes.js'
import { useStore } from './store-context.js'
import type { Question } from './store.js'
import { Ago, Meter, TableHead } from './elements.js'
import { timeOfDay } from './words.js'

/** Shows why a ticket waits, rule by rule. */
function Explanation({ explanation }: { readonly explanation: StoryExplanation }) {
  return (
    <div class="explanation">
      <h3>Why it waits</h3>
      <p class="summary">{explanation.summary}</p>
      {explanation.queues.map(({ queue, summary, rules }) => (
        <div key={queue} class="explained-queue">
          <p>
            <b>{queue}</b>: {summary}
          </p>
          {rules.length === 0 ? null : (
            <table>
              <caption class="hidden">How many of the others in {queue} each rule lets through</caption>
              <TableHead columns={['Rule', 'Lets through']} />
              <tbody>
                {rules.map(({ rule, lets, of }) => (
                  <tr key={rule}>
                    <th scope="row">{rule}</th>
                    <td class="meter-cell">
                      <Meter share={of === 0 ? 0 : lets / of} />
                      <span class={`number ${lets === 0 && of > 0 ? 'attention' : ''}`}>
                        {grouped(lets)} of {grouped(of)}
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      ))}
    </div>
  )
}

/** Shows the history of a ticket, match, server or player, why it waits, and the possible actions. */
export function StoryCard({ story }: { readonly story: Story }) {
  const { kind, id, state, events, cut, explanation, related, actions } = story
  // A generated id is used, because a game's id may contain spaces, which an id in HTML may not.
  const heading = useId()
  return (
    <section class="story" aria-labelledby={heading}>
      <div class="story-head">
        <h2 id={heading}>
          <span class="kind">{kind}</span> <code>{id}</code>
        </h2>
        <Actions story={story} actions={actions} />
      </div>
      <p class="story-state">{state}</p>
      {related.length === 0 ? null : (
        <ul class="related" aria-label="Belongs to">
          {related.map((other) => (
            <li key={`${other.kind} ${other.id}`}>
              <Ref of={other} />
            </li>
          ))}
        </ul>
      )}
      <div class={explanation === null ? 'story-body' : 'story-body two'}>
        <div>
          <h3>What happened</h3>
          {cut ? <p class="none">Earlier events were dropped.</p> : null}
          {events.length === 0 ? <p class="none">Nothing so far.</p> : null}
          <ol class="events">
            {events.map((event, at) => (
              <Event key={`${event.at} ${event.what} ${at}`} event={event} of={story} before={events[at - 1]?.at} />
            ))}
          </ol>
        </div>
        {explanation === null ? null : <Explanation explanation={explanation} />}
      </div>
    </section>
  )
}

/** The kinds of events that are highlighted, each with its colour class. */
const tones: Readonly<Record<string, string>> = {
  assigned: 'ready',
  ready: 'ready',
  found: 'starting',
  joined: 'starting',
  accepted: 'starting',
  deployed: 'starting',
  declined: 'error',
  failed: 'error',
  wrote: 'error',
  problem: 'error',
  returned: 'forming',
  relaxed: 'forming',
  left: 'stopping',
  cancelled: 'stopping',
  ended: 'stopping',
  registered: 'ready',
  taken: 'starting',
  freed: 'plain',
  draining: 'stopping',
  silent: 'error',
  heard: 'ready',
}

interface EventProps {
  readonly event: StoryEvent
  readonly of: Story
  readonly before: number | undefined
}

/** Maximum number of references in a line. The list above the events has all of them. */
const MOST_REFS = 4

function Event({ event, of, before }: EventProps) {
  const { at, what, text } = event
  const later = before === undefined ? undefined : at - before
  const refs = event.refs.filter(({ kind, id }) => kind !== of.kind || id !== of.id)
  return (
    <li class={tones[what] ?? 'plain'}>
      <span class="event-time">
        <time dateTime={new Date(at).toISOString()}>{timeOfDay(at)}</time>
        <small>{later === undefined ? <Ago at={at} /> : `+${(later / 1000).toFixed(1)} s`}</small>
      </span>
      <span class="event-text">
        <b>{what}</b> {text}{' '}
        {refs.slice(0, MOST_REFS).map((ref) => (
          <Fragment key={`${ref.kind} ${ref.id}`}>
            <Ref of={ref} />{' '}
          </Fragment>
        ))}
        {refs.length > MOST_REFS ? <small>and {refs.length - MOST_REFS} more</small> : null}
      </span>
    </li>
  )
}

const Ref = ({ of: { kind, id } }: { readonly of: { readonly kind: StoryKind; readonly id: string } }) => (
  <a class="ref" href={hrefOf('find', id)}>
    <span class="kind">{kind}</span> <code>{id}</code>
  </a>
)

interface AskButtonProps {
  readonly action: Action
  /** The id of the object of the action, and the name that is shown for it. */
  readonly id: string
  readonly name: string
  /** A shorter text, for a button in a table. Default: the verb of the question. */
  readonly text?: string
  readonly kind?: string
}

/** Shows a button that performs an action on an object, after a confirmation. */
export function AskButton({ action, id, name, text, kind }: AskButtonProps) {
  const { question, api, connection } = useStore()
  return (
    <button
      type="button"
      class={kind}
      aria-label={text && `${text} ${name}`}
      disabled={connection.value !== 'live'}
      onClick={() => (question.value = questionOf(action, name, () => api().act(action, id)))}
    >
      {text ?? verbs[action]}
    </button>
  )
}

function Actions({ story, actions }: { readonly story: Story; readonly actions: readonly StoryAction[] }) {
  const { may } = useStore()
  const allowed = actions.filter((action) => may(permissions[action]))
  if (actions.length === 0) return null
  if (allowed.length === 0) return <p class="none">Your role may look only.</p>
  return (
    <div class="buttons">
      {allowed.map((action) => (
        <AskButton
          key={action}
          action={action}
          id={action === 'drain-server' ? (story.serverId ?? story.id) : story.id}
          name={story.id}
          kind={action === 'forgive-cooldown' ? '' : 'harsh'}
        />
      ))}
    </div>
  )
}

const permissions: Readonly<Record<StoryAction, Permission>> = {
  'cancel-ticket': 'players',
  'stop-match': 'players',
  'forgive-cooldown': 'players',
  'drain-server': 'servers',
  'kill-server': 'servers',
}

const verbs: Readonly<Record<Action, string>> = {
  'cancel-ticket': 'Cancel the ticket',
  'stop-match': 'Stop the match',
  'forgive-cooldown': 'Forgive the cooldown',
  'drain-server': 'Drain the server',
  'kill-server': 'Kill the server',
  'revoke-enrolment': 'Revoke the key',
}

/** Returns the question to confirm before an action. @param id the id as shown. */
function questionOf(action: Action, id: string, act: () => Promise<void>): Question {
  const common = { verb: verbs[action], act }
  if (action === 'cancel-ticket') {
    const text = ['Its players leave the queue and are told so. Their waiting time is lost.']
    return { ...common, title: `Cancel ticket ${id}?`, text, done: `Ticket ${id} is cancelled.`, isDestructive: true }
  }
  if (action === 'stop-match') {
    const text = ['Its server is stopped, and all its players are disconnected.']
    return { ...common, title: `Stop match ${id}?`, text, done: `Match ${id} is being stopped.`, isDestructive: true }
  }
  if (action === 'drain-server') {
    const text = ['It takes no more matches. Its current matches are played to their end, then it is stopped.']
    return {
      ...common,
      title: `Drain server ${id}?`,
      text,
      done: `Server ${id} takes no more matches.`,
      isDestructive: true,
    }
  }
  if (action === 'kill-server') {
    const text = ['Its process is ended at once (SIGKILL), as a crash would end it.']
    return { ...common, title: `Kill server ${id}?`, text, done: `Server ${id} is killed.`, isDestructive: true }
  }
  if (action === 'revoke-enrolment') {
    const text = ['Its servers are stopped at once, and all their players are disconnected.']
    return { ...common, title: `Revoke key ${id}?`, text, done: `Key ${id} is revoked.`, isDestructive: true }
  }
  const text = ['The player may search again at once, and the next cooldown is short again.']
  return { ...common, title: `Forgive ${id}?`, text, done: `The cooldown of ${id} is forgiven.`, isDestructive: false }
}
