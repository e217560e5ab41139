// pure: the page
import { html, markup, type Html } from './html.js'
import { worldMap } from './page-map.js'
import { pageScript } from './page-script.js'
import {
  applicationTable,
  faultTable,
  fleetTable,
  latestDeployments,
  locationTable,
  rejectionTable,
  requestTable,
} from './page-sections.js'
import type { PageState } from './page-state.js'
import { pageStyle } from './page-style.js'
import { section } from './page-table.js'
import { headline, legend, totals } from './page-totals.js'

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
    '<circle cx="8" cy="8" r="7" fill="#0b8a66"/><circle cx="8" cy="8" r="3" fill="#fff"/></svg>',
)}`

/** The whole page as it is now. The script in it fetches it again each second; without scripts the browser loads it anew. */
export function pageHtml(state: PageState): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster emulator</title>
<link rel="icon" href="${ICON}">
<style>${markup(pageStyle)}</style>
<noscript><meta http-equiv="refresh" content="3"></noscript>
</head>
<body>
<header>
<h1>Muster emulator</h1>
<p class="follow">
<span id="following" role="status">As it was when the page was loaded</span>
<button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
<a href="/_emulator/state">State as JSON</a>
</p>
</header>
<main id="live">
${clock(state)}
${totals(state)}${section('map', 'Where deployments run', html`${legend}${worldMap(state)}`, headline(state))}
<div class="columns">
<div class="column">
${latestDeployments(state)}${requestTable(state)}${rejectionTable(state)}</div>
<div class="column">
${locationTable(state)}${applicationTable(state)}${fleetTable(state)}${faultTable(state)}</div>
</div>
</main>
<script>${markup(pageScript)}</script>
</body>
</html>
`
  return page.markup
}

const clock = ({ now, speed }: PageState): Html =>
  html`<p class="clock">The emulator's clock: <time datetime="${now}">${now.slice(0, 10)} ${now.slice(11, 19)} UTC</time>${
    speed === 1 ? undefined : `, its service ${speed} times faster`
  }</p>`
