import { html } from './html.js'
import { page } from './page.js'
import { loadCanvas } from './plots/canvas.js'
import { pareto, type TriedPoint } from './plots/pareto.js'

export interface FrontPage {
  readonly title: string
  /** What was searched for and found, one thing a sentence. */
  readonly sentences: readonly string[]
  readonly front: readonly TriedPoint[]
  /** Milliseconds within which nine of ten were promised a match. */
  readonly promisedMs?: number | undefined
  /** The change to the file, as text. */
  readonly patch?: string | undefined
}

/** A page like a report that shows what a search for better schedules found. */
export async function frontHtml({ title, sentences, front, promisedMs, patch }: FrontPage): Promise<string> {
  const canvas = await loadCanvas()
  const body = html`<header><h1>${title}</h1></header>
    <section>
      ${sentences.map((sentence) => html`<p class="verdict">${sentence}</p>`)} ${pareto(canvas, front, promisedMs)}
    </section>
    ${
      patch !== undefined &&
      html`<section aria-labelledby="patch">
        <h2 id="patch">The change</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="The change">
          <pre>${patch.split('\n').map((line) => html`${line}\n`)}</pre>
        </div>
      </section>`
    }`
  return page(title, body)
}
