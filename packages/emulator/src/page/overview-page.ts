// pure: the overview page
import { deploymentTable } from './deployment-table.js'
import { html, type Html } from './html.js'
import { europeMap, worldMap } from './page-map.js'
import {
  applicationTable,
  faultTable,
  fleetTable,
  locationTable,
  rejectionTable,
  requestTable,
} from './page-sections.js'
import { pageShell } from './page-shell.js'
import type { PageState } from './page-state.js'
import { section } from './page-table.js'
import { headline, legend, totals } from './page-totals.js'

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

/** A time element of an instant in format B. */
export const instant = (at: string): Html =>
  html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time>`
