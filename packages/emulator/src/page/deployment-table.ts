// pure: the table of deployments, and example code to copy while it is empty
import { duration, grouped, sum } from '@muster/console/internal'
import type { StatusName } from '../deployments/index.js'
import { html, type Html, section, table } from './html.js'
import { phaseOf } from './page-state.js'
import type { PageDeployment, PageState } from './read-page-state.js'

type Connect = PageState['connect']

const code = (lines: readonly string[]): Html =>
  html`<pre class="code" tabindex="0"><code>${lines.join('\n')}</code></pre>`

const text = (value: string) => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`

const clientOf = ({ baseUrl, token }: Connect): readonly string[] => {
  const tokenCode = token === null ? 'process.env.API_TOKEN' : text(token)
  return [
    "import { createClient } from '@muster/core'",
    '',
    `const client = createClient({ baseUrl: ${text(baseUrl)}, token: ${tokenCode} })`,
  ]
}

export const connectSnippet = (connect: Connect): Html =>
  code([
    ...clientOf(connect),
    "await client.applications.create({ name: 'my-game' })",
    'await client.versions.create({',
    "  app_name: 'my-game',",
    "  name: '1.0',",
    "  docker_repository: 'registry.example.com',",
    "  docker_image: 'studio/server',",
    "  docker_tag: '1.0',",
    '  req_cpu: 512,',
    '  req_memory: 1024,',
    "  ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],",
    '})',
  ])

export const deploySnippet = (
  connect: Connect,
  { application, version }: { readonly application: string; readonly version: string },
): Html =>
  code([
    ...clientOf(connect),
    'const { request_id } = await client.deployments.create({',
    `  application: ${text(application)},`,
    `  version: ${text(version)},`,
    "  users: [{ user_type: 'geo_coordinates', user_data: { latitude: 52.5, longitude: 13.4 } }],",
    '})',
  ])

export const statusChip = (name: StatusName): Html => html`<span class="status ${phaseOf(name)}">${name}</span>`
export const tagChips = (tags: readonly string[]): Html =>
  html`${tags.map((tag) => html`<span class="tag">${tag}</span> `)}`

export function deploymentTable(state: PageState): Html {
  const { latest, byStatus, found, search } = state.deployments
  const all = sum(Object.values(byStatus))
  if (all === 0) return section('deployments', 'Deployments', firstSteps(state))
  const content = table(
    'deployments',
    latest,
    [
      {
        heading: 'Request id',
        cell: ({ request_id }) => html`<a href="/_emulator/deployments/${request_id}"><code>${request_id}</code></a>`,
      },
      { heading: 'Status', cell: statusCell },
      { heading: 'Location', cell: ({ location }) => location ?? '–' },
      {
        heading: 'Version',
        cell: ({ application, version }) => html`<span class="name">${application} ${version}</span>`,
      },
      { heading: 'Age', cell: ({ ageMs }) => duration(ageMs), number: true },
      { heading: 'Tags', cell: ({ tags }) => tagChips(tags) },
    ],
    {
      none: `No deployment has ${JSON.stringify(search)} in its id, status, location, version, error or tags.`,
      keyOf: ({ request_id }) => request_id,
    },
  )
  const shown = latest.length < found ? `the latest ${latest.length} of ${grouped(found)}` : grouped(found)
  const note = search === '' ? shown : `${shown} of ${grouped(all)} found`
  return section(
    'deployments',
    'Deployments',
    html`${searchForm(search)}${content}`,
    search === '' && latest.length === found ? undefined : note,
  )
}

/** The search form. It works without scripts too. */
const searchForm = (search: string): Html => html`<form class="search" action="/_emulator" method="get" role="search">
<input id="search" type="search" name="q" value="${search}" placeholder="Search: id, status, city, version, tag"
aria-label="Search deployments" autocomplete="off" spellcheck="false">
</form>
`

const statusCell = (row: PageDeployment): Html =>
  html`${statusChip(row.status)} <small>for ${duration(row.inStatusMs)}</small>${
    row.error === null ? undefined : html`<br><small class="problem">${row.error}</small>`
  }`

function firstSteps({ connect, applications }: PageState): Html {
  const named = applications.flatMap(({ name, versions }) =>
    versions.slice(0, 1).map((version) => ({ application: name, version: version.name })),
  )
  const [first] = named
  return first === undefined
    ? html`<p class="none">None so far. To connect with the client, and make a version to deploy:</p>
${connectSnippet(connect)}`
    : html`<p class="none">None so far. To deploy one:</p>${deploySnippet(connect, first)}`
}
