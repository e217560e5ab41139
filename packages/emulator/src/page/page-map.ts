// pure: the world map of the page
import { html, markup, type Html } from './html.js'
import { phases } from './page-phase.js'
import type { PageLocation, PageState } from './page-state.js'
import { counted } from './words.js'
import { mapExtent, worldOutline } from './world-outline.js'

const { west, north, east, south, unitsPerDegree } = mapExtent
const WIDTH = (east - west) * unitsPerDegree
const HEIGHT = (north - south) * unitsPerDegree
const MERIDIANS = 30

const xOf = (longitude: number) => round((longitude - west) * unitsPerDegree)
const yOf = (latitude: number) => round((north - latitude) * unitsPerDegree)
const round = (value: number) => Math.round(value * 10) / 10

/** A dot's area grows with the deployments, as far as the largest still leaves its neighbours to be seen. */
const LARGEST_RADIUS = 27
const RADIUS_OF_ONE = 7.5

function radiusOf(running: number, most: number): number {
  const ofOne = Math.min(RADIUS_OF_ONE, LARGEST_RADIUS / Math.sqrt(most))
  return round(Math.max(5, ofOne * Math.sqrt(running)))
}

/** Every location is a dot: empty ones small and hollow, the others with a slice for each thing that deployments do there. */
export function worldMap({ locations, deployments }: PageState): Html {
  const most = Math.max(1, ...locations.map(({ running }) => running))
  const used = locations.filter(({ running }) => running > 0)
  const empty = locations.filter(({ running }) => running === 0)
  // The small ones on top of the large ones.
  const ordered = used.toSorted((one, other) => other.running - one.running)
  const label =
    `World map: ${counted(deployments.running - deployments.withoutLocation, 'deployment')} ` +
    `at ${used.length} of ${counted(locations.length, 'location')}. The table of locations says the same.`
  return html`<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<path class="graticule" d="${graticule}"/>
<path class="land" d="${markup(worldOutline)}"/>
${empty.map((location) => spot(location, 'none', html`<circle class="empty" r="4"/>`))}${ordered.map((location) =>
    dot(location, radiusOf(location.running, most)),
  )}</svg>`
}

/** What is drawn at a location, and said of it to who points there. */
const spot = (location: PageLocation, title: string, drawing: Html): Html =>
  html`<g id="at-${location.id}" transform="${at(location)}"><title>${location.city}: ${title}</title><g class="dot">${drawing}</g></g>
`

const at = ({ latitude, longitude }: PageLocation) => `translate(${xOf(longitude)} ${yOf(latitude)})`

/** Without the two edges, which would only draw a frame. */
const graticule = [
  ...stepsBetween(west, east).map((longitude) => `M${xOf(longitude)} 0V${HEIGHT}`),
  ...stepsBetween(south, north).map((latitude) => `M0 ${yOf(latitude)}H${WIDTH}`),
].join('')

function stepsBetween(from: number, to: number): readonly number[] {
  const first = Math.floor(from / MERIDIANS) + 1
  const last = Math.ceil(to / MERIDIANS) - 1
  return Array.from({ length: last - first + 1 }, (_, step) => (first + step) * MERIDIANS)
}

function dot(location: PageLocation, radius: number): Html {
  const title = phases.filter((phase) => location[phase] > 0).map((phase) => `${location[phase]} ${phase}`)
  const alarm = location.error > 0 ? html`<circle class="alarm" r="${round(radius + 5)}"/>` : undefined
  const rim = html`<circle class="rim" r="${round(radius + 1.5)}"/>`
  return spot(location, title.join(', '), html`${rim}${slices(location, radius)}${alarm}`)
}

/** A line as wide as the radius, half way out, fills the disc; dashes make it slices. */
function slices(location: PageLocation, radius: number): readonly Html[] {
  const line = html`r="${radius / 2}" stroke-width="${radius}" pathLength="100"`
  let before = 0
  return phases.flatMap((phase) => {
    if (location[phase] === 0) return []
    const share = round((100 * location[phase]) / location.running)
    const dashes = html`stroke-dasharray="${share} 100" stroke-dashoffset="${-before}"`
    before = round(before + share)
    return html`<circle class="slice ${phase}" ${line} ${dashes}/>`
  })
}
