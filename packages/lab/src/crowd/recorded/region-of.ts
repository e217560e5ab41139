import { greatCircleKm, type Coordinates } from '@muster/core'
import { CITIES } from '../generate/cities.js'

/** Names the part of the world that places are in: that of the nearest large city. It remembers answers by degree. */
export function createRegionOf(): (place: Coordinates) => string {
  const known = new Map<number, string>()
  return ({ latitude, longitude }) => {
    const rounded = { latitude: Math.round(latitude), longitude: Math.round(longitude) }
    const key = rounded.latitude * 1000 + rounded.longitude
    const region = known.get(key) ?? nearestRegion(rounded)
    known.set(key, region)
    return region
  }
}

function nearestRegion(place: Coordinates): string {
  let [nearest, least] = ['', Infinity]
  for (const city of CITIES) {
    const km = greatCircleKm(place, city)
    if (km < least) [nearest, least] = [city.region, km]
  }
  return nearest
}
