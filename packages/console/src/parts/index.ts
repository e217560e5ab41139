/** What all pages of Muster share: colours and the base of style sheets, words, and the world map. */
export { baseStyle } from './base-style.js'
export { placeLabels, type Dot, type Label } from './map-labels.js'
export { counted, duration, grouped, sum } from './words.js'
export { onMap } from './world-map.js'
export { graticule, mapExtent, worldOutline } from './world-outline.js'
