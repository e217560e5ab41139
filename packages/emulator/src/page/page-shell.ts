// pure: the frame that all pages share
import { html, markup, type Html } from './html.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
    '<circle cx="8" cy="8" r="7" fill="#0b8a66"/><circle cx="8" cy="8" r="3" fill="#fff"/></svg>',
)}`

/**
 * A whole page. Its script fetches the page again each second; without scripts the browser reloads it.
 * @param live the content that changes.
 */
export function pageShell(title: string, live: Html): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${markup(pageStyle)}</style>
<noscript><meta http-equiv="refresh" content="3"></noscript>
</head>
<body>
<p id="alarm" role="alert" hidden></p>
<header>
<h1><a href="/_emulator">Muster emulator</a></h1>
<p class="follow">
<span id="following" role="status">As it was when the page was loaded</span>
<button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
<a href="/_emulator/state">State as JSON</a>
</p>
</header>
<main id="live">
${live}</main>
<script>${markup(pageScript)}</script>
</body>
</html>
`
  return page.markup
}
