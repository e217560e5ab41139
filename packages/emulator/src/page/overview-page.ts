// pure: the sections of the page except the map and the totals
import { counted, grouped, sum } from '@muster/console/internal'
import type { Fault, FaultCount } from '../faults.js'
import { deploymentTable } from './deployment-table.js'
import { type TableColumn, html, type Html, pageShell, section, tableSection } from './html.js'
import { europeMap, worldMap } from './page-map.js'
import { type PagePhase, type PhaseCounts, phaseOf, phases, statusNames } from './page-state.js'
import type { PageLocation, PageState } from './read-page-state.js'

const named = (name: string, on: boolean): Html =>
  html`<span class="name">${name}</span>${on ? undefined : html` <span class="off">off</span>`}`

function locationTable({ locations }: PageState): Html {
  const used = locations
    .filter(({ deployments }) => deployments > 0)
    .toSorted((one, other) => other.deployments - one.deployments)
  const number = (heading: string, key: 'deployments' | PagePhase): TableColumn<PageLocation> => ({
    heading,
    cell: (row) => (row[key] === 0 ? html`<span class="zero">0</span>` : grouped(row[key])),
    number: true,
  })
  const limited = locations.some(({ capacity }) => capacity !== null)
  const capacity: TableColumn<PageLocation> = {
    heading: 'Capacity',
    cell: (row) => (row.capacity === null ? 'any' : grouped(row.capacity)),
    number: true,
  }
  return tableSection(
    'locations',
    'Locations',
    used,
    {
      none: 'No location has a deployment.',
      keyOf: ({ id }) => id,
      note: `${used.length} of ${locations.length} in use`,
    },
    [
      { heading: 'City', cell: ({ city, country }) => html`${city} <small>${country}</small>` },
      number('All', 'deployments'),
      number('Ready', 'ready'),
      number('Starting', 'starting'),
      number('Error', 'error'),
      number('Stopping', 'stopping'),
      ...(limited ? [capacity] : []),
    ],
  )
}

function requestTable({ counters: { requests } }: PageState): Html {
  const rows = Object.entries(requests)
    .map(([operation, statuses]) => ({
      operation,
      statuses: Object.entries(statuses),
      total: sum(Object.values(statuses)),
    }))
    .toSorted((one, other) => other.total - one.total)
  return tableSection('requests', 'Requests', rows, { none: 'None so far.', keyOf: ({ operation }) => operation }, [
    { heading: 'Operation', cell: ({ operation }) => html`<code>${operation}</code>` },
    { heading: 'Requests', cell: ({ total }) => grouped(total), number: true },
    { heading: 'By status', cell: ({ statuses }) => html`${statuses.map(answers)}` },
  ])
}

const answers = ([code, count]: readonly [code: string, count: number]): Html =>
  html`<span class="answer of${code.charAt(0)}"><b>${code}</b> × ${grouped(count)}</span> `

function rejectionTable({ counters: { rejected } }: PageState): Html {
  const rows = Object.entries(rejected)
  return tableSection('rejections', 'Rejected by limits', rows, { none: 'None: no request has been over a limit.' }, [
    { heading: 'Limit', cell: ([limit]) => limit },
    { heading: 'Rejected', cell: ([, count]) => grouped(count), number: true },
  ])
}

/**
 * Shows the number of deployments in each phase. There is no sum, because a deployment in ERROR is not a running
 * server.
 */
function inPhases(counts: PhaseCounts | undefined): Html {
  const chips = phases.flatMap((phase) => {
    const count = counts?.[phase] ?? 0
    return count === 0 ? [] : [html`<span class="status ${phase}">${grouped(count)} ${phase}</span> `]
  })
  return chips.length === 0 ? html`<span class="zero">none</span>` : html`${chips}`
}

/** Returns the parts, or one undefined part, so that a whole without parts has a row too. */
const orNone = <Part>(parts: readonly Part[]): readonly (Part | undefined)[] =>
  parts.length === 0 ? [undefined] : parts

function applicationTable({ applications }: PageState): Html {
  const rows = applications.flatMap((application) =>
    orNone(application.versions).map((version) => ({ application, version })),
  )
  return tableSection('applications', 'Applications and versions', rows, { none: 'None so far.' }, [
    { heading: 'Application', cell: ({ application: { name, active } }) => named(name, active) },
    {
      heading: 'Version',
      cell: ({ version }) => (version === undefined ? '–' : named(version.name, version.active)),
    },
    { heading: 'Deployments', cell: ({ version }) => inPhases(version?.phases) },
  ])
}

function fleetTable({ fleets }: PageState): Html {
  const rows = fleets.flatMap((fleet) => orNone(fleet.policies).map((policy) => ({ fleet, policy })))
  return tableSection('fleets', 'Fleets', rows, { none: 'None so far.' }, [
    { heading: 'Fleet', cell: ({ fleet }) => named(fleet.name, fleet.enabled) },
    { heading: 'Versions', cell: ({ fleet }) => html`<span class="name">${fleet.versions.join(', ') || '–'}</span>` },
    {
      heading: 'Policy',
      cell: ({ policy }) => (policy === undefined ? '–' : named(policy.name, policy.enabled)),
    },
    {
      heading: 'Wanted per version',
      cell: ({ policy }) => (policy === undefined ? '–' : `${grouped(policy.minimum)} to ${grouped(policy.maximum)}`),
      number: true,
    },
    { heading: 'Deployments', cell: ({ policy }) => inPhases(policy?.phases) },
  ])
}

function faultTable({ faults }: PageState): Html {
  return tableSection('faults', 'Declared faults', faults, { none: 'None: everything goes as documented.' }, [
    {
      heading: 'Operation',
      cell: ({ fault: { operation } }) => (operation === '*' ? 'all' : html`<code>${operation}</code>`),
    },
    { heading: 'When', cell: ({ fault }) => whenOf(fault) },
    { heading: 'What', cell: ({ fault }) => whatOf(fault) },
    { heading: 'Done', cell: struckOf, number: true },
  ])
}

const struckOf = ({ struck, seen }: FaultCount) => `${grouped(struck)} of ${grouped(seen)}`

function whenOf({ probability, nth, count }: Fault): string {
  const often =
    probability === undefined
      ? nth === undefined
        ? 'every request'
        : `${nth.length === 1 ? 'request' : 'requests'} ${nth.join(', ')}`
      : `${Number((probability * 100).toPrecision(3))} % of requests`
  return count === undefined ? often : `${often}, at most ${counted(count, 'time')}`
}

/** Shows the effect of a fault, in the words of its declaration. */
function whatOf({ operation: _operation, probability: _probability, nth: _nth, count: _count, ...what }: Fault): Html {
  const parts = Object.entries(what).filter(([, value]) => value !== undefined)
  return html`${parts.map(
    ([key, value]) =>
      html`<span class="tag">${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}</span> `,
  )}`
}

function totals(state: PageState): Html {
  const { counters, relaySessions } = state
  const requests = sum(Object.values(counters.requests).flatMap((statuses) => Object.values(statuses)))
  const rejected = sum(Object.values(counters.rejected))
  const { sent, delivered, failed, refused } = counters.webhooks
  return html`<dl class="totals" aria-label="Totals">
${[...phases, 'ended' as const].map((phase) => phaseTotal(state, phase))}${[
    totalBox('Requests', requests, [
      [counters.unrouted, 'to no operation'],
      [counters.dropped, 'dropped'],
    ]),
    totalBox('Rejected (429)', rejected, [], rejected > 0 ? 'bad' : ''),
    totalBox(
      'Webhooks',
      sent,
      [
        [delivered, 'delivered'],
        [failed, 'failed'],
        [refused, 'not sent'],
      ],
      failed > 0 ? 'bad' : '',
    ),
    totalBox('Relay sessions', relaySessions.sessions, [
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
  return totalBox(phase, count, [...parts, ...nowhere], phase)
}

function totalBox(
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
const legend: Html = html`<ul class="legend" aria-label="Colours of the map">${phases.map(
  (phase) => html`<li class="${phase}">${phase}</li>`,
)}<li class="empty">no deployment</li></ul>`

/** Returns the headline counts. Deployments in ERROR are counted separately, because they cost money but do not run. */
const headline = ({ deployments: { phases: counts } }: PageState): string =>
  phases
    .filter((phase) => phase === 'ready' || counts[phase] > 0)
    .map((phase) => `${grouped(counts[phase])} ${phase}`)
    .join(', ')

export const overviewPage = (state: PageState): string =>
  pageShell(
    'Muster emulator',
    html`${clockLine(state)}
${totals(state)}${section(
      'map',
      'Where deployments are',
      html`${legend}<div class="maps">${worldMap(state)}${europeMap(state)}</div>`,
      headline(state),
    )}
<div class="columns">
<div class="column">
${deploymentTable(state)}${requestTable(state)}${rejectionTable(state)}</div>
<div class="column">
${locationTable(state)}${applicationTable(state)}${fleetTable(state)}${faultTable(state)}</div>
</div>
`,
  )

const clockLine = ({ now, speed }: PageState): Html =>
  html`<p class="clock">The emulator's clock: ${instant(now)}${
    speed === 1 ? undefined : `, its service ${speed} times faster`
  }</p>`

/** Creates a time element. @param at time in ISO 8601 and UTC, with milliseconds */
export const instant = (at: string): Html =>
  html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time>`
