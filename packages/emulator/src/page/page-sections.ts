// pure: what the page shows beside the map and the totals
import type { Fault } from '../faults/fault.js'
import type { StatusName } from '../deployments/lifecycle.js'
import { html, type Html } from './html.js'
import { phaseOf, type PagePhase } from './page-phase.js'
import type { PageDeployment, PageLocation, PageState } from './page-state.js'
import { section, table, type Column } from './page-table.js'
import { counted, duration, grouped, sum } from './words.js'

const status = (name: StatusName): Html => html`<span class="status ${phaseOf(name)}">${name}</span>`

const named = (name: string, on: boolean): Html =>
  html`<span class="name">${name}</span>${on ? undefined : html` <span class="off">off</span>`}`

export function latestDeployments({ deployments: { latest, byStatus } }: PageState): Html {
  const all = sum(Object.values(byStatus))
  const note = latest.length < all ? `the latest ${latest.length} of ${grouped(all)}` : undefined
  const content = table(
    'deployments',
    latest,
    [
      { heading: 'Request id', cell: ({ request_id }) => html`<code>${request_id}</code>` },
      { heading: 'Status', cell: statusCell },
      { heading: 'Location', cell: ({ location }) => location ?? '–' },
      { heading: 'Version', cell: ({ application, version }) => html`<span class="name">${application} ${version}</span>` },
      { heading: 'Age', cell: ({ ageMs }) => duration(ageMs), number: true },
      { heading: 'Tags', cell: ({ tags }) => html`${tags.map((tag) => html`<span class="tag">${tag}</span> `)}` },
    ],
    { none: 'None so far.', keyOf: ({ request_id }) => request_id },
  )
  return section('deployments', 'Deployments', content, note)
}

const statusCell = (row: PageDeployment): Html =>
  html`${status(row.status)} <small>for ${duration(row.inStatusMs)}</small>${
    row.error === null ? undefined : html`<br><small class="problem">${row.error}</small>`
  }`

export function locationTable({ locations }: PageState): Html {
  const used = locations.filter(({ running }) => running > 0).toSorted((one, other) => other.running - one.running)
  const number = (heading: string, key: 'running' | PagePhase): Column<PageLocation> => ({
    heading,
    cell: (row) => (row[key] === 0 ? html`<span class="zero">0</span>` : grouped(row[key])),
    number: true,
  })
  const limited = locations.some(({ capacity }) => capacity !== null)
  const capacity: Column<PageLocation> = {
    heading: 'Capacity',
    cell: (row) => (row.capacity === null ? 'any' : grouped(row.capacity)),
    number: true,
  }
  const content = table(
    'locations',
    used,
    [
      { heading: 'City', cell: ({ city, country }) => html`${city} <small>${country}</small>` },
      number('Running', 'running'),
      number('Ready', 'ready'),
      number('Starting', 'starting'),
      number('Error', 'error'),
      number('Stopping', 'stopping'),
      ...(limited ? [capacity] : []),
    ],
    { none: 'No location has a deployment.', keyOf: ({ id }) => id },
  )
  return section('locations', 'Locations', content, `${used.length} of ${locations.length} in use`)
}

export function requestTable({ counters: { requests } }: PageState): Html {
  const rows = Object.entries(requests)
    .map(([operation, statuses]) => ({ operation, statuses: Object.entries(statuses), total: sum(Object.values(statuses)) }))
    .toSorted((one, other) => other.total - one.total)
  const content = table(
    'requests',
    rows,
    [
      { heading: 'Operation', cell: ({ operation }) => html`<code>${operation}</code>` },
      { heading: 'Requests', cell: ({ total }) => grouped(total), number: true },
      { heading: 'By status', cell: ({ statuses }) => html`${statuses.map(answers)}` },
    ],
    { none: 'None so far.', keyOf: ({ operation }) => operation },
  )
  return section('requests', 'Requests', content)
}

const answers = ([code, count]: readonly [code: string, count: number]): Html =>
  html`<span class="answer of${code.charAt(0)}"><b>${code}</b> × ${grouped(count)}</span> `

export function rejectionTable({ counters: { rejected } }: PageState): Html {
  const rows = Object.entries(rejected)
  const content = table(
    'rejections',
    rows,
    [
      { heading: 'Limit', cell: ([limit]) => limit },
      { heading: 'Rejected', cell: ([, count]) => grouped(count), number: true },
    ],
    { none: 'None: no request has been over a limit.' },
  )
  return section('rejections', 'Rejected by limits', content)
}

/** What has no parts has a row of its own all the same. */
const orNone = <Part>(parts: readonly Part[]): readonly (Part | undefined)[] => (parts.length === 0 ? [undefined] : parts)

export function applicationTable({ applications }: PageState): Html {
  const rows = applications.flatMap((application) => orNone(application.versions).map((version) => ({ application, version })))
  const content = table(
    'applications',
    rows,
    [
      { heading: 'Application', cell: ({ application: { name, active } }) => named(name, active) },
      {
        heading: 'Version',
        cell: ({ version }) => (version === undefined ? '–' : named(version.name, version.active)),
      },
      { heading: 'Running', cell: ({ version }) => grouped(version?.running ?? 0), number: true },
    ],
    { none: 'None so far.' },
  )
  return section('applications', 'Applications and versions', content)
}

export function fleetTable({ fleets }: PageState): Html {
  const rows = fleets.flatMap((fleet) => orNone(fleet.policies).map((policy) => ({ fleet, policy })))
  const content = table(
    'fleets',
    rows,
    [
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
      { heading: 'Running', cell: ({ policy }) => grouped(policy?.running ?? 0), number: true },
    ],
    { none: 'None so far.' },
  )
  return section('fleets', 'Fleets', content)
}

export function faultTable({ faults }: PageState): Html {
  const content = table(
    'faults',
    faults,
    [
      { heading: 'Operation', cell: ({ operation }) => (operation === '*' ? 'all' : html`<code>${operation}</code>`) },
      { heading: 'When', cell: whenOf },
      { heading: 'What', cell: whatOf },
    ],
    { none: 'None: everything goes as documented.' },
  )
  return section('faults', 'Declared faults', content)
}

function whenOf({ probability, nth, count }: Fault): string {
  const often =
    probability === undefined
      ? nth === undefined
        ? 'every request'
        : `${nth.length === 1 ? 'request' : 'requests'} ${nth.join(', ')}`
      : `${Number((probability * 100).toPrecision(3))} % of requests`
  return count === undefined ? often : `${often}, at most ${counted(count, 'time')}`
}

/** In the words of the declaration. */
function whatOf({ operation: _operation, probability: _probability, nth: _nth, count: _count, ...what }: Fault): Html {
  const parts = Object.entries(what).filter(([, value]) => value !== undefined)
  return html`${parts.map(
    ([key, value]) => html`<span class="tag">${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}</span> `,
  )}`
}
