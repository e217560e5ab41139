import { useComputed } from '@preact/signals'
import { useStore } from '../state/store-context.js'
import { HOUR_MS } from '../state/series.js'
import { sparkPath } from '../ui/spark-path.js'

const [WIDTH, HEIGHT] = [140, 24]

/** The players who waited in a queue during the last hour. The plots below say it in numbers. */
export function Spark({ queue }: { readonly queue: string }) {
  const { series } = useStore()
  const path = useComputed(() => {
    const values = series.value?.queues.get(queue)?.players ?? []
    const most = Math.max(0, ...values.map((value) => value ?? 0))
    return sparkPath(values, Math.ceil(HOUR_MS / (series.value?.step ?? HOUR_MS)), WIDTH, HEIGHT - 4, most)
  })
  return (
    <svg class="spark" viewBox={`0 -2 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
