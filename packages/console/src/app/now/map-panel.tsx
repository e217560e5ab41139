import { Component } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted, graticule, grouped, groupBy, mapExtent, onMap, sum, worldOutline } from '../../parts/index.js'
import type { MapNow, Now, Spot } from '../../wire.js'
import { short, wait } from '../words.js'
import { number, TableHead } from '../elements.js'

/** An item with a weight, at a point of the map. */
interface Weighted {
  readonly x: number
  readonly y: number
  readonly weight: number
}

interface Merged<Item extends Weighted> extends Weighted {
  /** Identifies the cell of the map. It stays the same when the cell's items change. */
  readonly key: string
  readonly items: readonly Item[]
}

/**
 * Merges the items in each cell of a grid into one, at their weighted centre. The heaviest comes first, and no item is
 * lost. The grid is fixed, so circles do not jump between updates.
 */
export function mergeClusters<Item extends Weighted>(items: readonly Item[], cell: number): readonly Merged<Item>[] {
  const weighty = items.filter(({ weight }) => weight > 0)
  return [...groupBy(weighty, ({ x, y }) => `${Math.floor(x / cell)},${Math.floor(y / cell)}`)]
    .map(([key, there]) => {
      const weight = sum(there.map((item) => item.weight))
      const middle = (of: 'x' | 'y') => sum(there.map((item) => item[of] * item.weight)) / weight
      return { key, weight, x: middle('x'), y: middle('y'), items: there }
    })
    .toSorted((one, other) => size(other) - size(one) || (one.key < other.key ? -1 : 1))
}

/** Sorting by the rounded logarithm keeps the order of similar weights stable between updates. */
const size = ({ weight }: Weighted) => Math.round(Math.log2(weight))

/**
 * Returns the radius of a circle in pixels. The circle's area grows with the weight. A maximum keeps other circles
 * visible.
 */
export function radiusOf(weight: number, heaviest: number): number {
  const largest = Math.min(22, 7 + 3.2 * Math.log10(Math.max(1, heaviest)) ** 1.4)
  return Math.max(3.5, largest * Math.sqrt(weight / Math.max(1, heaviest)))
}

const MOST = 15

/** Shows the map as a table. The table is created when it is opened. */
function PlacesTable({ map }: { readonly map: MapNow }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="places" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The map as tables</summary>
      {isOpen ? <Places map={map} /> : null}
    </details>
  )
}

function Places({ map: { waiting, servers } }: { readonly map: MapNow }) {
  const areas = waiting.toSorted((one, other) => other.players - one.players).slice(0, MOST)
  const places = servers.toSorted((one, other) => other.running - one.running).slice(0, MOST)
  return (
    <div class="places-tables">
      <table>
        <caption>The {areas.length} areas where most players wait</caption>
        <TableHead columns={['Area', number('Players'), number('Longest wait')]} />
        <tbody>
          {areas.map((area) => (
            <tr key={degrees(area)}>
              <th scope="row">{degrees(area)}</th>
              <td class="number">{grouped(area.players)}</td>
              <td class="number">{wait(area.oldest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table>
        <caption>The {places.length} places with most servers</caption>
        <TableHead columns={['Place', number('Running'), number('Starting'), number('Players')]} />
        <tbody>
          {places.map((place) => (
            <tr key={`${place.city} ${degrees(place)}`}>
              <th scope="row">{place.city ?? degrees(place)}</th>
              <td class="number">{grouped(place.running)}</td>
              <td class="number">{grouped(place.starting)}</td>
              <td class="number">{grouped(place.players)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const degrees = ({ latitude, longitude }: Spot) =>
  `${Math.abs(Math.round(latitude))}° ${latitude < 0 ? 'S' : 'N'}, ` +
  `${Math.abs(Math.round(longitude))}° ${longitude < 0 ? 'W' : 'E'}`

/** Shows a world map of waiting players, of matches without a server, and of servers. */
export function MapPanel({ now }: { readonly now: Now }) {
  const { waiting, nowhere, servers } = now.map
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(900)
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const watcher = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)))
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [])
  const placed = sum(waiting.map(({ players }) => players))
  const running = sum(servers.map((place) => place.running + place.starting))
  const label =
    `World map: ${counted(placed, 'waiting player')} in ${counted(waiting.length, 'area')}, ` +
    `${counted(running, 'server')} in ${counted(servers.length, 'place')}. The table below says the same.`
  return (
    <section class="map-panel" aria-labelledby="world">
      <h2 id="world">World</h2>
      <ul class="legend">
        <li class="waiting">players waiting</li>
        <li class="forming">matches forming</li>
        <li class="servers">servers</li>
        {nowhere === 0 ? null : <li class="nowhere">{counted(nowhere, 'player')} whose place is not known</li>}
      </ul>
      <div class="world" ref={frame} role="img" aria-label={label}>
        <Land />
        <Marks now={now} scale={mapExtent.width / width} />
        <MapWords now={now} />
      </div>
      <PlacesTable map={now.map} />
    </section>
  )
}

/** Shows a text if the map has no waiting players. */
function MapWords({ now: { ready, map } }: { readonly now: Now }) {
  const { seen, waiting, nowhere, servers } = map
  if (waiting.length > 0) return null
  if (!seen)
    return <p class="map-words">{ready.leader ?? 'Another process'} matches. Its console shows where players wait.</p>
  if (nowhere > 0) {
    return (
      <p class="map-words">
        {counted(nowhere, 'player')} wait, and no place of theirs is known. Places come from coordinates in tickets, or
        from a file of places of addresses (<code>locate</code>).
      </p>
    )
  }
  return servers.length > 0 ? null : <p class="map-words">Nobody waits at this moment, and no server runs.</p>
}

/** Shows the outline of the land. It is rendered only once. */
class Land extends Component {
  override shouldComponentUpdate() {
    return false
  }

  render() {
    return (
      <svg class="map" viewBox={`0 0 ${mapExtent.width} ${mapExtent.height}`} aria-hidden="true">
        <path class="graticule" d={graticule} />
        <path class="land" d={worldOutline} />
      </svg>
    )
  }
}

/** Size in pixels of the grid cells in which circles are merged. */
const CELL = 34
const NAMED_RADIUS = 12

/**
 * Shows circles for players, rings for matches and squares for servers. Their size in pixels is the same at every width
 * of the map.
 */
function Marks({ now, scale }: { readonly now: Now; readonly scale: number }) {
  const areas = mergeClusters(
    now.map.waiting.map((area) => ({ ...onMap(area), weight: area.players, oldest: area.oldest })),
    CELL * scale,
  )
  const matches = mergeClusters(
    now.forming.flatMap(({ spot }) => (spot === null ? [] : [{ ...onMap(spot), weight: 1 }])),
    CELL * scale,
  )
  const places = mergeClusters(
    now.map.servers.map((place) => ({ ...onMap(place), weight: place.starting + place.running, place })),
    (CELL / 2) * scale,
  )
  const heaviest = Math.max(1, ...areas.map(({ weight }) => weight))
  const at = (x: number, y: number) => `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(3)})`
  return (
    <svg class="map marks" viewBox={`0 0 ${mapExtent.width} ${mapExtent.height}`} aria-hidden="true">
      {areas.map(({ key, x, y, weight, items }) => {
        const radius = radiusOf(weight, heaviest)
        const oldest = Math.max(...items.map((item) => item.oldest))
        return (
          <g key={key} transform={at(x, y)}>
            <title>{`${counted(weight, 'player')} waiting, the longest for ${wait(oldest)}`}</title>
            <circle class="mark-waiting" r={radius.toFixed(1)} />
          </g>
        )
      })}
      {places.map(({ key, x, y, weight, items }) => (
        <g key={key} transform={at(x, y)}>
          <title>
            {`${counted(weight, 'server')} in ${items.map(({ place }) => place.city ?? 'an unnamed place').join(', ')}`}
          </title>
          <rect class="mark-server" x="-3.5" y="-3.5" width="7" height="7" rx="1" />
        </g>
      ))}
      {matches.map(({ key, x, y, weight }) => (
        <g key={key} transform={at(x, y)}>
          <title>{`${grouped(weight)} ${weight === 1 ? 'match' : 'matches'} forming`}</title>
          <circle class="mark-forming" r={(4.5 + Math.min(5, Math.log2(weight))).toFixed(1)} />
        </g>
      ))}
      {areas
        .filter(({ weight }) => radiusOf(weight, heaviest) >= NAMED_RADIUS)
        .map(({ key, x, y, weight }) => (
          <g key={`count ${key}`} transform={at(x, y)}>
            <text class="mark-count" y={countAt(y / scale, radiusOf(weight, heaviest))}>
              {short(weight)}
            </text>
          </g>
        ))}
    </svg>
  )
}

const COUNT_HEIGHT = 12

/**
 * Returns the vertical position of a number in pixels from the circle's centre. It is above the circle, or below it at
 * the top edge of the map.
 */
const countAt = (top: number, radius: number) => (top - radius < COUNT_HEIGHT + 3 ? radius + COUNT_HEIGHT : -radius - 3)
