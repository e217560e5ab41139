import { grouped } from '../../parts/index.js'
import type { StoryExplanation } from '../../wire/index.js'
import { Meter } from '../ui/meter.js'

/** Why a ticket waits, rule by rule. */
export function Explanation({ explanation }: { readonly explanation: StoryExplanation }) {
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
              <thead>
                <tr>
                  <th scope="col">Rule</th>
                  <th scope="col">Lets through</th>
                </tr>
              </thead>
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
