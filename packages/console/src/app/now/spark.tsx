import { useComputed } from '@preact/signals'
import { useStore } from '../state/store-context.js'
import { shownSpan } from '../state/series.js'
import { sparkPath } from '../ui/spark-path.js'

const [WIDTH, HEIGHT] = [140, 24]

/** The players who waited in a queue during the last hour. The plots below say it in numbers. */
export function Spark({ queue }: { readonly queue: string }) {
  const { series } = useStore()
  const path = useComputed(() => {
    const values = series.value?.queues.get(queue)?.players ?? []
    const most = Math.max(0, ...values.map((value) => value ?? 0))
    return sparkPath(
      values,
      series.value === undefined ? 1 : Math.ceil(shownSpan(series.value) / series.value.step),
      WIDTH,
      HEIGHT - 4,
      most,
    )
  })
  return (
    <svg class="spark" viewBox={`0 -2 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
