import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { whyOf } from './api.js'
import { hrefOf } from './routes.js'
import { usePolled, useStore } from './store-context.js'
import type { Question } from './store.js'
import { ago, timeOfDay } from './words.js'

/** Shows the age of a time by the server's clock, with the date as a tooltip. */
export function Ago({ at }: { readonly at: number }) {
  const { serverTime } = useStore()
  const text = useComputed(() => ago(at, serverTime.value))
  return (
    <time class="ago" dateTime={new Date(at).toISOString()} title={timeOfDay(at)}>
      {text}
    </time>
  )
}

/** Shows a fraction from 0 to 1 as a decorative bar. A number beside the bar has the same information. */
export const Meter = ({ share, isFull = false }: { readonly share: number; readonly isFull?: boolean }) => (
  <svg class={`meter ${isFull ? 'full' : ''}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="meter-ground" width="100" height="6" />
    <rect class="meter-used" width={Math.min(100, share * 100)} height="6" />
  </svg>
)

/** The head of a column: its text, and the class of its cells if they are not plain text. */
type ColumnHead = string | { readonly text: string; readonly kind: string }

/** Returns the head of a column of numbers, which are right-aligned. */
export const number = (text: string): ColumnHead => ({ text, kind: 'number' })

/** Shows the heads of a table's columns. An empty text is the corner above the row heads. */
export const TableHead = ({ columns }: { readonly columns: readonly ColumnHead[] }) => (
  <thead>
    <tr>
      {columns.map((column) => {
        const { text, kind } = typeof column === 'string' ? { text: column, kind: undefined } : column
        return text === '' ? (
          <td key="corner" />
        ) : (
          <th key={text} scope="col" class={kind}>
            {text}
          </th>
        )
      })}
    </tr>
  </thead>
)

interface CellProps {
  readonly head: string
  readonly kind?: string
  readonly children: ComponentChildren
}

/** Shows a table cell. On small screens, rows become cards in which each cell shows the head of its column. */
export const Cell = ({ head, kind = 'number', children }: CellProps) => (
  <td class={kind} data-heading={head}>
    {children}
  </td>
)

/** Shows a link to the history of an id. */
export const IdLink = ({ id, text = id }: { readonly id: string; readonly text?: string }) => (
  <a href={hrefOf('find', id)}>
    <code>{text}</code>
  </a>
)

interface PolledViewProps<Answer> {
  readonly title: string
  readonly ask: Parameters<typeof usePolled<Answer>>[0]
  readonly show: (answer: Answer) => ComponentChildren
}

const AGAIN_MS = 5000

/** Shows a view of a response that is fetched repeatedly. */
export function PolledView<Answer>({ title, ask, show }: PolledViewProps<Answer>) {
  const { answer, failure } = usePolled(ask, AGAIN_MS)
  return (
    <>
      <h1 class="view-title">{title}</h1>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
      {answer === undefined ? failure === undefined ? <p class="none">Looking …</p> : null : show(answer)}
    </>
  )
}

/** Returns the props of a form that finds the history of an id: those of its field, and its submit handler. */
export function useFind() {
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const id = field.current?.value.trim() ?? ''
    if (id !== '') location.hash = hrefOf('find', id)
  }
  const plain = { autocomplete: 'off', spellcheck: false, maxLength: 128 } as const
  return { field, submit, input: { ref: field, type: 'search', 'aria-keyshortcuts': '/', ...plain } as const }
}

/** Shows the browser's own confirmation dialog, which traps the focus and returns it afterwards. */
export function Confirm() {
  const { question } = useStore()
  return question.value === undefined ? null : <Asked key={question.value.title} asked={question.value} />
}

function Asked({ asked }: { readonly asked: Question }) {
  const { question, tellOutcome } = useStore()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')

  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])

  const act = async () => {
    setBusy(true)
    setFailure('')
    try {
      await asked.act()
      tellOutcome(asked.done)
      question.value = undefined
    } catch (error) {
      setFailure(whyOf(error, 'The command failed.'))
      setBusy(false)
    }
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby="asked"
      aria-describedby="asked-text"
      onClose={() => (question.value = undefined)}
    >
      <h2 id="asked">{asked.title}</h2>
      <div id="asked-text">
        {asked.text.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <p>That you did this is written to the log.</p>
      </div>
      <p class="failure" role="alert">
        {failure}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Go back
        </button>
        <button
          type="button"
          class={asked.isDestructive ? 'harsh' : 'main'}
          disabled={isBusy}
          onClick={() => void act()}
        >
          {asked.verb}
        </button>
      </div>
    </dialog>
  )
}
