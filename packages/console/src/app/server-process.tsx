import type { ServerRow } from '../wire-servers.js'
import { usePolled } from './store-context.js'
import { AskButton } from './story-card.js'

const AGAIN_MS = 1000

/** Shows the buttons of a server that is a local process of `muster dev -- COMMAND`. */
export function ProcessButtons({ row, show }: { readonly row: ServerRow; readonly show: (requestId: string) => void }) {
  const { requestId, host, isProcess } = row
  if (!isProcess || requestId === null) return null
  const name = host ?? requestId
  return (
    <>
      {' '}
      <button type="button" aria-label={`Output of ${name}`} onClick={() => show(requestId)}>
        Output
      </button>{' '}
      <AskButton action="kill-server" id={requestId} name={name} text="Kill" />
    </>
  )
}

/**
 * Shows the latest output of a process, and updates it as it grows. Use the id as React key, so that another process
 * gets another panel.
 */
export function OutputPanel({ requestId }: { readonly requestId: string }) {
  const { answer, failure } = usePolled((api, signal) => api.output(requestId, signal), AGAIN_MS)
  return (
    <section aria-labelledby="output">
      <h2 id="output">
        Output of <code>{requestId}</code>
      </h2>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
      <pre class="output" tabIndex={0} aria-label="Output">
        {answer?.text}
      </pre>
    </section>
  )
}
