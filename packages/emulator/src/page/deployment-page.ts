// pure: the page of one deployment
import type { DeploymentDetail } from './read-page-state.js'
import { statusChip, tagChips } from './deployment-table.js'
import { html, type Html, pageShell, section, tableSection } from './html.js'
import { MASK } from './mask-secrets.js'
import { instant } from './overview-page.js'
import { phaseOf } from './page-state.js'
import { duration } from '@muster/console/internal'

const back = html`<p class="back"><a href="/_emulator">All deployments</a></p>
`

export const deploymentPage = (detail: DeploymentDetail): string =>
  pageShell(
    `${detail.request_id} – Muster emulator`,
    html`${back}${summary(detail)}${failure(detail)}<div class="columns">
<div class="column">
${log(detail)}${variableTable(detail)}</div>
<div class="column">
${stepTable(detail)}${portTable(detail)}</div>
</div>
`,
  )

export const unknownDeploymentPage = (requestId: string): string =>
  pageShell(
    'No such deployment – Muster emulator',
    html`${back}<section id="deployment"><h2>No such deployment</h2>
<p>The emulator does not know <code>${requestId}</code>.
Deployments are forgotten some time after they have ended.</p></section>
`,
  )

function summary(detail: DeploymentDetail): Html {
  const { request_id, status, application, version, location, tags, policy, ageMs, inStatusMs, stopRequested } = detail
  const facts: readonly (readonly [name: string, value: Html | string | undefined])[] = [
    ['Status', html`${statusChip(status)} for ${duration(inStatusMs)}${stopRequested ? ', to be stopped' : undefined}`],
    ['Version', html`<span class="name">${application} ${version}</span>`],
    ['Location', location ?? 'none: no server could be allocated'],
    ['Asked for', html`${duration(ageMs)} ago, at ${instant(detail.createdAt)}`],
    ['Fleet policy', policy ?? undefined],
    ['Tags', tags.length === 0 ? undefined : tagChips(tags)],
  ]
  const stoppable = phaseOf(status) !== 'ended' && phaseOf(status) !== 'stopping' && !stopRequested
  return html`<section id="deployment">
<h2>Deployment <code>${request_id}</code></h2>
<dl class="facts">${facts.map(([name, value]) =>
    value === undefined
      ? html``
      : html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
  )}</dl>
${stoppable ? stopButton(request_id) : undefined}
</section>
`
}

const stopButton = (requestId: string): Html => {
  const url = `/_emulator/deployments/${requestId}/stop`
  return html`<p class="actions"><button id="stop" type="button" data-stop="${url}">Stop this deployment</button></p>`
}

function failure({ failure: reason, exitCode }: DeploymentDetail): Html {
  if (reason === null) return html``
  const code = exitCode === null ? undefined : html` Exit code <b>${exitCode}</b>; its last words are in the log.`
  return section('failure', 'Why it failed', html`<p class="problem">${reason}.${code}</p>`)
}

const log = ({ log: text }: DeploymentDetail): Html =>
  section(
    'log',
    'Log',
    text === ''
      ? html`<p class="none">Nothing so far: the container has not been started, or has written nothing.</p>`
      : html`<pre class="log" tabindex="0" role="region" aria-labelledby="log-heading">${text}</pre>`,
  )

const variableTable = ({ variables }: DeploymentDetail): Html =>
  tableSection('variables', 'Environment', variables, { none: 'None.', wide: true, note: 'secrets are hidden' }, [
    { heading: 'Variable', cell: ({ name }) => html`<code>${name}</code>` },
    {
      heading: 'Value',
      cell: ({ value }) =>
        value === undefined
          ? html`<span class="hidden-value" title="a secret">${MASK}</span>`
          : html`<code>${value}</code>`,
    },
  ])

const stepTable = ({ steps }: DeploymentDetail): Html =>
  tableSection('steps', 'What has happened', steps, { none: 'Nothing.' }, [
    { heading: 'Status', cell: ({ status }) => statusChip(status) },
    { heading: 'Since', cell: ({ at }) => at.slice(11, 23) },
    { heading: 'For', cell: ({ lastedMs }) => (lastedMs === undefined ? 'now' : precise(lastedMs)), number: true },
  ])

/** Formats the duration of a step. Below 10 s it has hundredths of a second, because most steps are short. */
const precise = (ms: number) => (ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : duration(ms))

const portTable = ({ ports }: DeploymentDetail): Html =>
  tableSection('ports', 'Ports', ports, { none: 'None.' }, [
    { heading: 'Name', cell: ({ name }) => name },
    { heading: 'Inside', cell: ({ internal }) => internal, number: true },
    { heading: 'Outside', cell: ({ external }) => external, number: true },
    { heading: 'Protocol', cell: ({ protocol }) => protocol },
  ])
