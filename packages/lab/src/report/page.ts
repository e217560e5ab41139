import { createHash } from 'node:crypto'
import { COLOURS } from './series.js'

/** A piece of HTML. All text in it is escaped. */
export interface Html {
  readonly html: string
}

type Inserted = Html | string | number | undefined | false | readonly Inserted[]

/** Creates HTML from a template. Strings are escaped, pieces of HTML are inserted unchanged, and lists are joined. */
export const html = (parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Html => ({
  html: parts.map((part, index) => part + (index < inserted.length ? insert(inserted[index]) : '')).join(''),
})

/** Marks a text as HTML that needs no escaping, e.g. from a library that escapes. */
export const trusted = (text: string): Html => ({ html: text })

function insert(value: Inserted): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value))
  return 'html' in value ? value.html : value.map(insert).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => plain(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string)

/**
 * Replaces the characters of a name that must not be displayed: line breaks, terminal control characters, and
 * characters that change the direction of text.
 */
export const plain = (name: string): string =>
  name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu, '�')

/** Shortens a string to at most `most` characters. */
export const shortened = (text: string, most: number): string => {
  const characters = [...plain(text)]
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`
}

/** Colours of a limit's steps, from the strictest to the loosest. */
const RAMP = {
  light: ['#d7e8f7', '#a5cbea', '#5b9fd0', '#216fa8', '#0c4573'],
  dark: ['#1c3850', '#23587f', '#3b82b5', '#79b4de', '#c3e0f6'],
} as const
const ON_RAMP = {
  light: ['#17202b', '#17202b', '#0b1520', '#ffffff', '#ffffff'],
  dark: ['#e6ebf2', '#ffffff', '#0b1520', '#0b1520', '#0b1520'],
} as const

/** Number of colours from the strictest step to the loosest. */
export const RAMP_STEPS = RAMP.light.length

const BASE = {
  light: {
    ground: '#f4f6f8',
    surface: '#ffffff',
    inset: '#f1f4f7',
    line: '#d9e0e8',
    ink: '#17202b',
    quiet: '#556172',
    better: '#00694f',
    worse: '#a8320c',
  },
  dark: {
    ground: '#0e131a',
    surface: '#161d27',
    inset: '#1d2632',
    line: '#2f3a49',
    ink: '#e6ebf2',
    quiet: '#a3b0c1',
    better: '#3fd0a2',
    worse: '#ff9473',
  },
} as const

function variables(scheme: 'light' | 'dark'): string {
  const base = Object.entries(BASE[scheme]).map(([name, value]) => `--${name}: ${value};`)
  const numbered = (name: string, values: readonly string[]) =>
    values.map((value, index) => `--${name}-${index + 1}: ${value};`)
  const lists = [
    ...numbered('series', COLOURS[scheme]),
    ...numbered('ramp', RAMP[scheme]),
    ...numbered('on-ramp', ON_RAMP[scheme]),
  ]
  return [`color-scheme: ${scheme};`, ...base, ...lists].join(' ')
}

/** The style sheet. Its colours are light or dark, as the reader's system prefers, and always light on paper. */
const STYLE = `:root { ${variables('light')} }
@media screen and (prefers-color-scheme: dark) { :root { ${variables('dark')} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; padding: 28px 20px 48px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; }
h1 { margin: 0 0 4px; font-size: 26px; line-height: 1.2; letter-spacing: -.015em; }
h2 { margin: 0 0 4px; font-size: 19px; letter-spacing: -.01em; }
h3 { margin: 22px 0 4px; font-size: 15px; }
p { margin: 6px 0; max-width: 76ch; }
.quiet, figcaption p, caption p { color: var(--quiet); font-size: 13.5px; }
section { margin: 18px 0 0; padding: 18px 20px 20px; background: var(--surface); border: 1px solid var(--line);
  border-radius: 12px; }
.verdict { font-size: 16px; }
.verdict + .verdict { margin-top: 10px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 8px 0 0; padding: 0; list-style: none;
  color: var(--quiet); }
.facts b { color: var(--ink); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 10px 0 0; padding: 0; list-style: none; }
.key { display: inline-flex; align-items: center; gap: 7px; text-align: left; overflow-wrap: anywhere; }
.key svg { flex: none; width: 30px; height: 12px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 18px 34px; }
figure { margin: 14px 0 0; min-width: 0; break-inside: avoid; }
figcaption { margin: 0 0 6px; }
figcaption strong { display: block; font-size: 14px; }
figcaption p { margin: 0; }
.plot { display: block; width: 100%; max-width: 620px; height: auto; overflow: visible;
  font: 12px system-ui, sans-serif; }
.plot text { white-space: pre; }
.narrow { display: none; }
.scroll { margin: 12px 0 0; overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--series-1); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 14px; }
table.wide { width: 100%; }
caption { padding: 0 0 6px; text-align: left; font-weight: 600; }
caption p { margin: 0; font-weight: 400; }
th, td { padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: 400; }
thead th { color: var(--quiet); font-size: 13px; vertical-align: bottom; }
th.name { min-width: 12em; max-width: 22em; overflow-wrap: anywhere; }
th.name b { display: block; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
.number { text-align: right; }
tbody tr:last-child > * { border-bottom: 0; }
tr.begins > * { border-top: 1px solid var(--line); }
th small { display: block; color: var(--quiet); font-size: 12px; }
td small { display: block; color: var(--quiet); font-size: 12px; }
td small.sure { color: var(--ink); }
.chip { display: inline-block; padding: 0 7px; border-radius: 9px; background: var(--inset); font-size: 12px; }
.chip.better { color: var(--better); font-weight: 600; }
.chip.worse { color: var(--worse); font-weight: 600; }
ul.plain { margin: 6px 0 0; padding-left: 20px; max-width: 80ch; }
pre { margin: 8px 0 0; font: 12.5px/1.45 ui-monospace, "SFMono-Regular", Consolas, monospace; }
dl { margin: 8px 0 0; }
dt { margin: 8px 0 0; font-weight: 600; }
dd { margin: 0; max-width: 80ch; color: var(--quiet); }
@media (max-width: 620px) {
  body { padding: 18px 10px 32px; }
  section { padding: 14px 12px 16px; border-radius: 10px; }
  .wide-plot { display: none; }
  .narrow { display: block; }
  th.name { min-width: 8.5em; }
  th, td { padding-right: 12px; }
}
@media print {
  @page { margin: 14mm; }
  body { padding: 0; background: none; font-size: 11.5px; }
  main { max-width: none; }
  section { padding: 0; border: 0; border-radius: 0; }
  h2, h3, caption, figcaption, .legend { break-after: avoid; }
  tr, .verdict { break-inside: avoid; }
  .verdict { font-size: 12.5px; }
  .plots { grid-template-columns: 1fr 1fr; gap: 10px 24px; }
  .scroll { overflow: visible; }
  table { font-size: 8.5px; }
  th.name { min-width: 9.5em; max-width: 12em; }
  td { white-space: normal; }
  .quiet, figcaption p, caption p { font-size: 10px; }
  th small, td small, thead th, .chip { font-size: 7.5px; }
  th, td { padding: 3px 7px 3px 0; }
  .key { gap: 4px; }
  .key svg { width: 22px; }
}
`

/** The content security policy. It allows only this style sheet: the page loads, runs and sends nothing. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Returns a self-contained page in one file. It has no scripts and makes no requests. */
export const page = (title: string, body: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${trusted(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.html
