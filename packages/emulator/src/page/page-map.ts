// pure: the maps of the page
import {
  counted,
  graticule,
  mapExtent,
  onMap,
  placeLabels,
  worldOutline,
  type Dot,
  type Label,
} from '@muster/console/internal'
import { html, markup, type Html } from './html.js'
import { phases } from './page-state.js'
import type { PageLocation, PageState } from './read-page-state.js'

const round = (value: number) => Math.round(value * 10) / 10

/** A part of the world in map units. City names are placed for its width in pixels. */
interface MapView {
  readonly name: 'world' | 'europe'
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly pixels: number
}

const world: MapView = { name: 'world', left: 0, top: 0, width: mapExtent.width, height: mapExtent.height, pixels: 850 }
/** The map of Europe: from Lisbon to Istanbul, and from Helsinki to Athens. */
const europe: MapView = { name: 'europe', left: 787, top: 66, width: 230, height: 158, pixels: 400 }

const isIn = ({ left, top, width, height }: MapView, location: PageLocation) => {
  const { x, y } = onMap(location)
  return x > left && x < left + width && y > top && y < top + height
}

/**
 * Maximum radius of a dot in pixels. A dot's area grows with the number of deployments. The maximum keeps neighbouring
 * dots visible.
 */
const LARGEST_RADIUS = 15
const RADIUS_OF_ONE = 4.5
const SMALLEST_RADIUS = 3
const RADIUS_OF_NONE = 2.4

function radiusOf(deployments: number, most: number): number {
  const ofOne = Math.min(RADIUS_OF_ONE, LARGEST_RADIUS / Math.sqrt(most))
  return round(Math.max(SMALLEST_RADIUS, ofOne * Math.sqrt(deployments)))
}

/** Draws the map of the world. Locations that are also on the map of Europe are small on it, and have no names. */
export function worldMap({ locations, deployments }: PageState): Html {
  const used = locations.filter((location) => location.deployments > 0)
  const placed = used.reduce((sum, location) => sum + location.deployments, 0)
  const nowhere = deployments.withoutLocation === 0 ? '' : `, ${deployments.withoutLocation} at none`
  const places = `${used.length} of ${counted(locations.length, 'location')}${nowhere}`
  const label = `World map: ${counted(placed, 'deployment')} at ${places}. The table of locations says the same.`
  const { left, top, width, height } = europe
  return html`<svg class="map world" viewBox="0 0 ${world.width} ${world.height}" role="img" aria-label="${label}">
<path class="graticule" d="${markup(graticule)}"/>
<path id="land" class="land" d="${markup(worldOutline)}"/>
<rect class="frame" x="${left}" y="${top}" width="${width}" height="${height}"/>
${spots(world, locations)}</svg>
`
}

/** Draws the map of Europe, because its many locations are too close together on the world map. */
export const europeMap = ({ locations }: PageState): Html => {
  const here = locations.filter((location) => isIn(europe, location))
  const placed = here.reduce((sum, location) => sum + location.deployments, 0)
  const { left, top, width, height } = europe
  const label = `Europe: ${counted(placed, 'deployment')}.`
  return html`<svg class="map europe" viewBox="${left} ${top} ${width} ${height}" role="img" aria-label="${label}">
<use href="#land" class="land"/>
${spots(europe, here)}</svg>`
}

/**
 * Draws the dots of all locations. Empty locations are small and hollow. The others have a slice for each phase of
 * deployments.
 */
function spots(view: MapView, locations: readonly PageLocation[]): Html {
  const most = Math.max(1, ...locations.map(({ deployments }) => deployments))
  const isSmall = (location: PageLocation) => view === world && isIn(europe, location)
  const empty = locations.filter(({ deployments }) => deployments === 0)
  const used = locations
    .filter(({ deployments }) => deployments > 0)
    .toSorted((one, other) => other.deployments - one.deployments)
  const scale = view.pixels / view.width
  const dotOf = (location: PageLocation, radius: number, text?: string): Dot => ({
    id: location.id,
    x: (onMap(location).x - view.left) * scale,
    y: (onMap(location).y - view.top) * scale,
    radius: isSmall(location) ? radius / 2 : radius,
    text: isSmall(location) ? undefined : text,
  })
  const dots = [
    ...used.map((location) => {
      const around = location.error > 0 ? 4 : 1.5
      return dotOf(location, radiusOf(location.deployments, most) + around, nameOf(location))
    }),
    ...empty.map((location) => dotOf(location, RADIUS_OF_NONE)),
  ]
  const labels = placeLabels(dots, view.pixels, view.height * scale)
  const hollow = html`<circle class="empty" r="${RADIUS_OF_NONE}"/>`
  const emptySpots = empty.map((location) => spot(view, location, 'none', isSmall(location), hollow))
  const usedSpots = used.map((location) => {
    const title = phases.filter((phase) => location[phase] > 0).map((phase) => `${location[phase]} ${phase}`)
    const marker = dot(location, radiusOf(location.deployments, most))
    const drawing = html`${marker}${name(location, labels.get(location.id))}`
    return spot(view, location, title.join(', '), isSmall(location), drawing)
  })
  // Small dots are drawn above large ones.
  return html`${emptySpots}${usedSpots}`
}

const nameOf = ({ city, deployments }: PageLocation) => `${city} ${deployments}`

/** Draws a location with its tooltip. */
const spot = (view: MapView, location: PageLocation, title: string, isSmall: boolean, drawing: Html): Html => {
  const dotted = html`<g class="dot${isSmall ? ' small' : ''}">${drawing}</g>`
  const tooltip = html`<title>${location.city}: ${title}</title>`
  const at = onMap(location)
  return html`<g id="${view.name}-${location.id}" transform="translate(${at.x} ${at.y})">${tooltip}${dotted}</g>
`
}

function name(location: PageLocation, label: Label | undefined): Html | undefined {
  if (label === undefined) return undefined
  const { x, y, anchor } = label
  return html`<text class="city" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${nameOf(location)}</text>`
}

function dot(location: PageLocation, radius: number): Html {
  const alarm = location.error > 0 ? html`<circle class="alarm" r="${round(radius + 3)}"/>` : undefined
  return html`<circle class="rim" r="${round(radius + 1)}"/>${slices(location, radius)}${alarm}`
}

/** Returns the slices of a pie chart: the share of each phase in the location's deployments. */
function slices(location: PageLocation, radius: number): readonly Html[] {
  let before = 0
  return phases.flatMap((phase) => {
    const from = before / location.deployments
    before += location[phase]
    if (location[phase] === 0) return []
    if (location[phase] === location.deployments) return html`<circle class="slice ${phase}" r="${radius}"/>`
    return html`<path class="slice ${phase}" d="${wedge(radius, from, before / location.deployments)}"/>`
  })
}

/** Returns the path of a slice between two shares of the circle, clockwise from the top. */
function wedge(radius: number, from: number, to: number): string {
  const onRim = (share: number) =>
    `${exact(radius * Math.sin(2 * Math.PI * share))} ${exact(-radius * Math.cos(2 * Math.PI * share))}`
  return `M0 0L${onRim(from)}A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${onRim(to)}z`
}

const exact = (value: number) => Math.round(value * 100) / 100
