/** The parts that all pages of Muster share: colours, base styles, number formats, and the world map. */
export { onMap } from './world-map.js'
export { counted, duration, grouped, groupBy, sum } from './number-words.js'
export { graticule, mapExtent, worldOutline } from './world-outline.js'
