// pure: the colours of every page, for a light and a dark scheme

/** CSS custom properties by scheme. */
export const colours = {
  light: { '--ground': '#f6f7f9', '--surface': '#ffffff', '--ink': '#1b2230', '--quiet': '#5a6475' },
  dark: { '--ground': '#10141b', '--surface': '#181e28', '--ink': '#e7ebf2', '--quiet': '#9aa6b8' },
} as const
