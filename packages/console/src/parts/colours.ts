// pure: the colours of every page, for a light and a dark scheme

/**
 * CSS custom properties by scheme. The colours with a meaning can be told apart with every common kind of colour
 * blindness (after Okabe and Ito), texts in them are readable on every surface (WCAG AA), and nothing is said by
 * colour alone.
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

/**
 * The rules that set the colours: the scheme of the system, unless the root element has `data-scheme` `light` or
 * `dark`.
 */
export const colourStyle = `:root { color-scheme: light; ${declared('light')} }
:root[data-scheme=dark] { color-scheme: dark; ${declared('dark')} }
@media (prefers-color-scheme: dark) {
  :root:not([data-scheme=light]) { color-scheme: dark; ${declared('dark')} }
}
`
