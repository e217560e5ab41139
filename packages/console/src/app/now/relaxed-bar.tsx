import { grouped, sum } from '../../parts/index.js'
import type { RelaxedStep } from '../../wire/index.js'
import { percent, wait } from '../words.js'

/** Tickets by how far rules have given way for them: the further, the darker. */
export function RelaxedBar({ steps }: { readonly steps: readonly RelaxedStep[] }) {
  const all = sum(steps.map(({ tickets }) => tickets))
  const [strict] = steps
  if (all === 0 || strict === undefined) return <span class="none">–</span>
  const text = steps
    .filter(({ tickets }) => tickets > 0)
    .map(({ after, tickets }) => `${grouped(tickets)} ${after === 0 ? 'strictest' : `after ${wait(after)}`}`)
    .join(', ')
  const given = 1 - (strict.after === 0 ? strict.tickets : 0) / all
  let before = 0
  return (
    <span class="relaxed">
      <svg class="relaxed-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
        <title>{text}</title>
        {steps.map(({ after, tickets }, at) => {
          const x = (before / all) * 1000
          before += tickets
          const depth = steps.length === 1 ? 0 : at / (steps.length - 1)
          return (
            <rect key={after} x={x} width={(tickets / all) * 1000} height="10" fill-opacity={0.22 + 0.78 * depth} />
          )
        })}
      </svg>
      <span class="number">{percent(given)}</span>
    </span>
  )
}
