// pure: the colours of every page for a light and a dark scheme, and the base rules of all style sheets
/**
 * CSS custom properties for the light and the dark scheme. Colours with a meaning can be distinguished with every
 * common kind of colour blindness (after Okabe and Ito). Text in these colours is readable on every surface (WCAG AA).
 * No information is shown by colour alone.
 */
export const colours = {
  light: {
    '--ground': '#f4f6f8',
    '--surface': '#ffffff',
    '--inset': '#f4f6f9',
    '--line': '#dbe1e8',
    '--strong-line': '#8a95a5',
    '--ink': '#17202b',
    '--quiet': '#556172',
    '--sea': '#edf2f7',
    '--land': '#ccd6e0',
    '--graticule': '#e0e8ef',
    '--ready': '#08785a',
    '--starting': '#2160c4',
    '--forming': '#8f5b00',
    '--error': '#b9330f',
    '--stopping': '#626d7d',
    '--on-accent': '#ffffff',
    '--tint': '12%',
  },
  dark: {
    '--ground': '#0e131a',
    '--surface': '#161d27',
    '--inset': '#10161e',
    '--line': '#2a3442',
    '--strong-line': '#66748a',
    '--ink': '#e6ebf2',
    '--quiet': '#9aa8ba',
    '--sea': '#111923',
    '--land': '#2c3a4a',
    '--graticule': '#1a2532',
    '--ready': '#2fc897',
    '--starting': '#7db1ff',
    '--forming': '#f0b429',
    '--error': '#ff8866',
    '--stopping': '#9ba6b6',
    '--on-accent': '#0b1a30',
    '--tint': '18%',
  },
} as const satisfies Readonly<Record<'light' | 'dark', Readonly<Record<string, string>>>>

const declared = (scheme: 'light' | 'dark') =>
  Object.entries(colours[scheme])
    .map(([name, value]) => `${name}: ${value};`)
    .join(' ')

/** Sets the colours. The system's scheme applies, unless the root element has `data-scheme` `light` or `dark`. */
const colourStyle = `:root { color-scheme: light; ${declared('light')} }
:root[data-scheme=dark] { color-scheme: dark; ${declared('dark')} }
@media (prefers-color-scheme: dark) {
  :root:not([data-scheme=light]) { color-scheme: dark; ${declared('dark')} }
}
`

/** The base style sheet: colours, type, sections, controls, tables, chips and maps. */
export const baseStyle = `${colourStyle}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { margin: 0; font-size: 22px; letter-spacing: -.01em; }
h1 a { color: inherit; text-decoration: none; }
h2 { margin: 0 0 10px; font-size: 16px; }
h2 small { margin-left: 6px; font-weight: 400; }
small { color: var(--quiet); font-size: 12px; }
a { color: var(--starting); }
code, pre, textarea { font: 12.5px/1.4 ui-monospace, "SFMono-Regular", Consolas, "Liberation Mono", monospace; }
:focus-visible { outline: 2px solid var(--starting); outline-offset: 2px; }

section { position: relative; min-width: 0; padding: 14px 16px; background: var(--surface);
  border: 1px solid var(--line); border-radius: 10px; }
button { padding: 3px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--surface);
  color: inherit; font: inherit; cursor: pointer; }
button[aria-pressed=true] { border-color: var(--starting); color: var(--starting); font-weight: 600; }
button:disabled { opacity: .5; cursor: default; }

table { width: 100%; border-collapse: collapse; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-size: 12px; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.none { margin: 0; color: var(--quiet); }

.tag, .status { display: inline-block; max-width: 100%; margin: 0 2px 2px 0; padding: 0 7px; border-radius: 5px;
  background: var(--inset); font-size: 12.5px; overflow-wrap: anywhere; }
.status { white-space: nowrap; font-size: 11.5px; font-weight: 600; letter-spacing: .02em; line-height: 1.6; }
.ready.status { background: color-mix(in srgb, var(--ready) var(--tint), transparent); }
.starting.status { background: color-mix(in srgb, var(--starting) var(--tint), transparent); }
.error.status { background: color-mix(in srgb, var(--error) var(--tint), transparent); }
.stopping.status, .ended.status { background: color-mix(in srgb, var(--stopping) var(--tint), transparent); }

.map { display: block; width: 100%; height: 100%; border-radius: 6px; background: var(--sea); }
.land { fill: var(--land); }
.graticule { fill: none; stroke: var(--graticule); stroke-width: 1.5; }
.city { fill: var(--ink); font-size: 11px; paint-order: stroke; stroke: var(--sea); stroke-width: 2.5px;
  stroke-linejoin: round; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 10px; padding: 0; list-style: none;
  color: var(--quiet); }
`
