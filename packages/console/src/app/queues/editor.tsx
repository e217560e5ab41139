import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../parts/index.js'
import type { QueueCard, YamlFault } from '../../wire.js'
import { RequestRefused } from '../api.js'
import { useStore } from '../store-context.js'
import { TrialReport, useTrial } from './trial.js'

interface YamlFieldProps {
  readonly label: string
  readonly value: string
  readonly faults: readonly YamlFault[]
  readonly change: (text: string) => void
}

const FEWEST_LINES = 8

/**
 * Shows a YAML field with line numbers, and with faults at their lines. The field is as high as its text, so that only
 * the page scrolls. The Tab key leaves the field.
 */
function YamlField({ label, value, faults, change }: YamlFieldProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const lines = useMemo(() => value.split('\n').length, [value])
  const faulty = new Set(faults.map(({ line }) => line))
  const rows = Math.max(FEWEST_LINES, lines)

  const goTo = ({ line, column }: YamlFault) => {
    const before =
      value
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0)
    const place = Math.min(value.length, before + column - 1)
    field.current?.focus()
    field.current?.setSelectionRange(place, place)
  }
  return (
    <div class="yaml">
      <label class="hidden" for={id}>
        {label}
      </label>
      <div class="yaml-field">
        <ol class="yaml-lines" aria-hidden="true">
          {Array.from({ length: rows }, (_, at) => (
            <li key={at} class={faulty.has(at + 1) ? 'fault' : ''}>
              {at < lines ? at + 1 : ''}
            </li>
          ))}
        </ol>
        <textarea
          id={id}
          ref={field}
          rows={rows}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          value={value}
          aria-invalid={faults.length > 0}
          aria-describedby={`${id}-faults`}
          onInput={(event) => change(event.currentTarget.value)}
        />
      </div>
      <ul class="yaml-faults" id={`${id}-faults`}>
        {faults.map((fault) => (
          <li key={`${fault.line} ${fault.column} ${fault.message}`}>
            <button type="button" onClick={() => goTo(fault)}>
              Line {fault.line}, column {fault.column}
            </button>{' '}
            {fault.message}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Shows a queue as YAML. The operator can change the text, try it on the last hour, and apply it. */
export function Editor({ card, readAgain }: { readonly card: QueueCard; readonly readAgain: () => void }) {
  const { may, question, api, connection, announcer, drafts } = useStore()
  const draft = drafts.get(card.name)
  const [yaml, setYaml] = useState(draft?.yaml ?? card.yaml)
  const [faults, setFaults] = useState<readonly YamlFault[]>([])
  const [failure, setFailure] = useState('')
  const started = useRef(draft?.card ?? card)
  const { trial, start, cancel, isRunning } = useTrial()
  const isChanged = yaml !== started.current.yaml
  // The text is compared too. Versions count from the program's start, so the same number may mean another definition
  // after a restart.
  const isOld = card.version !== started.current.version || card.yaml !== started.current.yaml

  useEffect(() => {
    // A newer version replaces a text that was not edited. An edited text is kept, and its author is notified.
    if (isOld && !isChanged) {
      started.current = card
      setYaml(card.yaml)
    }
  }, [card])

  useEffect(() => {
    if (isChanged) drafts.set(card.name, { card: started.current, yaml })
    else drafts.delete(card.name)
  })

  const refuse = (error: unknown) => {
    const problem = error instanceof RequestRefused ? error.problem : undefined
    setFaults(problem?.faults ?? [])
    setFailure(problem?.message ?? 'The command failed.')
    announcer.say(problem?.message ?? 'The command failed.')
  }
  const clear = () => {
    setFaults([])
    setFailure('')
  }
  const tryIt = () => {
    clear()
    start({ queue: card.name, yaml }).catch(refuse)
  }
  const loadNewer = () => {
    started.current = card
    setYaml(card.yaml)
    clear()
  }
  const apply = () => {
    clear()
    question.value = {
      title: `Apply the change to ${card.name}?`,
      text: [
        'From now on, the new rules apply to every ticket of this queue, also to those that already wait.',
        'Tickets that the new rules do not allow are cancelled, and their players are told so.',
      ],
      verb: 'Apply the change',
      done: `${card.name} has new rules.`,
      isDestructive: true,
      act: async () => {
        try {
          const applied = await api().apply(card.name, { version: started.current.version, yaml })
          started.current = { ...card, version: applied.version, yaml }
          setApplied(applied.kept === 'file' ? 'The change is saved in the configuration file.' : KEPT_IN_MEMORY)
          if (applied.refused > 0) setFailure(`${counted(applied.refused, 'ticket')} had to be cancelled for it.`)
          readAgain()
        } catch (error) {
          if (error instanceof RequestRefused && error.problem.faults !== undefined) setFaults(error.problem.faults)
          if (error instanceof RequestRefused && error.status === 409) readAgain()
          throw error
        }
      },
    }
  }
  const [applied, setApplied] = useState('')
  const mayApply = may('rules') && card.fixed === null
  return (
    <section class="editor" aria-labelledby="change">
      <h2 id="change">Change the rules</h2>
      <p class="none">
        {card.fixed ??
          (may('rules') ? 'Nothing changes until you apply it.' : 'Your role may try changes, but not apply them.')}
      </p>
      <YamlField
        label={`${card.name} as YAML`}
        value={yaml}
        faults={faults}
        change={(text) => {
          setYaml(text)
          setFaults([])
          setApplied('')
        }}
      />
      {isOld && isChanged ? (
        <p class="failure">
          The queue was changed meanwhile, to version {card.version}.{' '}
          <button type="button" onClick={loadNewer}>
            Give up my edit and load it
          </button>
        </p>
      ) : null}
      <p class="failure">{failure}</p>
      <p class="applied">{applied}</p>
      <div class="buttons">
        <button type="button" disabled={!isChanged} onClick={loadNewer}>
          Undo all
        </button>
        <button type="button" disabled={isRunning || connection.value !== 'live'} onClick={tryIt}>
          Try on the last hour
        </button>
        {mayApply ? (
          <button
            type="button"
            class="main"
            disabled={!isChanged || isOld || connection.value !== 'live'}
            onClick={apply}
          >
            Apply
          </button>
        ) : null}
      </div>
      <TrialReport trial={trial} cancel={cancel} />
    </section>
  )
}

const KEPT_IN_MEMORY = 'The change is active, but not saved in a file. A restart loses it.'
