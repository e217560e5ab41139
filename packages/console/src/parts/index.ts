/** What all pages of Muster share: colours and the base of style sheets, words, and the world map. */
export { onMap } from './world-map.js'
export { counted, duration, grouped, groupBy, sum } from './number-words.js'
export { graticule, mapExtent, worldOutline } from './world-outline.js'
