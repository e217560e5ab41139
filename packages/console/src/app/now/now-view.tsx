import { useMemo } from 'preact/hooks'
import { useStore } from '../state/store-context.js'
import { BotsPanel } from './bots-panel.js'
import { FormingPanel } from './forming-panel.js'
import { LimitsPanel } from './limits-panel.js'
import { MapPanel } from './map-panel.js'
import { ProblemsPanel } from './problems-panel.js'
import { QueueTable } from './queue-table.js'
import { QueuePlots } from './queue-plots.js'
import { Readiness } from './readiness.js'
import { shownQueue } from './shown-queue.js'
import { ServersPanel } from './servers-panel.js'
import { Totals } from './totals.js'

/** What goes on at this moment. */
export function NowView() {
  const { now, slowNow, connection, hello, route } = useStore()
  const slow = slowNow.value
  // The same elements for as long as their data are the same are not compared.
  const map = useMemo(() => (slow === undefined ? null : <MapPanel now={slow} />), [slow])
  const forming = useMemo(() => (slow === undefined ? null : <FormingPanel now={slow} />), [slow])
  const shown = now.value === undefined ? undefined : shownQueue(now.value, route.value)?.name
  const plots = useMemo(() => <QueuePlots queue={shown} />, [shown])
  if (now.value === undefined || hello.value === undefined) {
    return (
      <>
        <h1 class="hidden">Now</h1>
        <section class="waiting-for-data" aria-busy={connection.value === 'connecting'}>
          <h2>{connection.value === 'away' ? 'The server does not answer' : 'Connecting'}</h2>
          <p>
            {connection.value === 'away'
              ? 'The page tries again by itself. Nothing was shown yet, so there is nothing to keep.'
              : 'The first figures come within a second.'}
          </p>
        </section>
      </>
    )
  }
  return (
    <>
      <h1 class="hidden">Now</h1>
      <div class="now-top">
        <Readiness now={now.value} />
        {hello.value.bots ? <BotsPanel /> : null}
      </div>
      <Totals now={now.value} />
      <div class="now-map">
        {map}
        <div class="now-side">
          <ProblemsPanel now={now.value} />
          {forming}
        </div>
      </div>
      <QueueTable now={now.value} />
      {plots}
      <div class="now-bottom">
        <ServersPanel servers={now.value.servers} />
        <LimitsPanel limits={now.value.limits} />
      </div>
    </>
  )
}
