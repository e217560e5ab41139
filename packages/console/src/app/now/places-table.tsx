import { useState } from 'preact/hooks'
import { grouped } from '../../parts/index.js'
import type { MapNow, Spot } from '../../wire/index.js'
import { wait } from '../words.js'

const MOST = 15

/** The map in words: made when it is opened. */
export function PlacesTable({ map }: { readonly map: MapNow }) {
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
        <thead>
          <tr>
            <th scope="col">Area</th>
            <th scope="col" class="number">
              Players
            </th>
            <th scope="col" class="number">
              Longest wait
            </th>
          </tr>
        </thead>
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
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col" class="number">
              Running
            </th>
            <th scope="col" class="number">
              Starting
            </th>
            <th scope="col" class="number">
              Players
            </th>
          </tr>
        </thead>
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
