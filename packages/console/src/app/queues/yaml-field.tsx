import { useId, useMemo, useRef } from 'preact/hooks'
import type { YamlFault } from '../../wire/index.js'

export interface YamlFieldProps {
  readonly label: string
  readonly value: string
  readonly faults: readonly YamlFault[]
  readonly change: (text: string) => void
}

const FEWEST_LINES = 8

/**
 * A field for YAML with the numbers of its lines, and faults at their lines. It is as high as its text, so the page
 * scrolls and the field does not. Tab leaves it, as everywhere.
 */
export function YamlField({ label, value, faults, change }: YamlFieldProps) {
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
