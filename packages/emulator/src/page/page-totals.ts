// pure: the figures at the top of the page
import { html, type Html } from './html.js'
import { phaseOf, phases, statusNames, type PagePhase } from './page-phase.js'
import type { PageState } from './page-state.js'
import { grouped, sum } from '@muster/console/parts'

export function totals(state: PageState): Html {
  const { counters, relaySessions } = state
  const requests = sum(Object.values(counters.requests).flatMap((statuses) => Object.values(statuses)))
  const rejected = sum(Object.values(counters.rejected))
  const { sent, delivered, failed, refused } = counters.webhooks
  return html`<dl class="totals" aria-label="Totals">
${[...phases, 'ended' as const].map((phase) => phaseTotal(state, phase))}${[
    total('Requests', requests, [
      [counters.unrouted, 'to no operation'],
      [counters.dropped, 'dropped'],
    ]),
    total('Rejected (429)', rejected, [], rejected > 0 ? 'bad' : ''),
    total(
      'Webhooks',
      sent,
      [
        [delivered, 'delivered'],
        [failed, 'failed'],
        [refused, 'not sent'],
      ],
      failed > 0 ? 'bad' : '',
    ),
    total('Relay sessions', relaySessions.sessions, [
      [relaySessions.ready, 'ready'],
      [relaySessions.users, relaySessions.users === 1 ? 'user' : 'users'],
      [relaySessions.connected, 'connected'],
      [counters.packets.relayed, 'packets relayed'],
    ]),
  ]}</dl>
`
}

function phaseTotal({ deployments: { byStatus, withoutLocation } }: PageState, phase: PagePhase | 'ended'): Html {
  const statuses = statusNames.filter((name) => phaseOf(name) === phase)
  const count = sum(statuses.map((name) => byStatus[name] ?? 0))
  // A phase with one status needs no breakdown.
  const parts = statuses.length === 1 ? [] : statuses.map((name) => [byStatus[name] ?? 0, name.toLowerCase()] as const)
  const nowhere = phase === 'error' ? ([[withoutLocation, 'without a server']] as const) : []
  return total(phase, count, [...parts, ...nowhere], phase)
}

function total(
  name: string,
  count: number,
  parts: readonly (readonly [count: number, what: string])[],
  kind = '',
): Html {
  const said = parts.filter(([part]) => part > 0).map(([part, what]) => `${grouped(part)}\u00a0${what}`)
  return html`<div class="total ${kind}"><dt>${name}</dt><dd><b>${grouped(count)}</b>${
    said.length === 0 ? undefined : html`<small>${said.join(', ')}</small>`
  }</dd></div>
`
}

/** The legend of the map's colours. */
export const legend: Html = html`<ul class="legend" aria-label="Colours of the map">${phases.map(
  (phase) => html`<li class="${phase}">${phase}</li>`,
)}<li class="empty">no deployment</li></ul>`

/** The headline counts. Deployments in ERROR are counted separately: they cost money, but do not run. */
export const headline = ({ deployments: { phases: counts } }: PageState): string =>
  phases
    .filter((phase) => phase === 'ready' || counts[phase] > 0)
    .map((phase) => `${grouped(counts[phase])} ${phase}`)
    .join(', ')
