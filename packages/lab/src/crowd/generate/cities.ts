// pure: the cities of players
import { type Coordinates, greatCircleKm } from '@muster/core'

/** A city where players live. */
export interface City {
  readonly name: string
  /** Name of the city's region of the world. Figures are grouped by region. */
  readonly region: string
  /** Population of the city with its suburbs, in millions. */
  readonly population: number
  /** Degrees, positive north of the equator. */
  readonly latitude: number
  /** Degrees, positive east of Greenwich. */
  readonly longitude: number
  /** Hours by which the local time is ahead of UTC: standard time, without daylight saving. */
  readonly utcOffsetHours: number
}

/**
 * Name, region, population in millions, latitude, longitude and UTC offset in hours. Populations are those of urban
 * agglomerations about 2020, rounded (after the United Nations' World Urbanization Prospects 2018). Coordinates are
 * rounded to a hundredth of a degree. Mainland China is omitted, because its servers are separate: a version runs
 * either there or everywhere else (public fact: `will_deploy_in_mainland_china`).
 */
const ROWS = [
  ['Amsterdam', 'Europe', 1.1, 52.37, 4.9, 1],
  ['Athens', 'Europe', 3.2, 37.98, 23.73, 2],
  ['Barcelona', 'Europe', 5.5, 41.39, 2.17, 1],
  ['Belgrade', 'Europe', 1.4, 44.79, 20.45, 1],
  ['Berlin', 'Europe', 3.6, 52.52, 13.41, 1],
  ['Brussels', 'Europe', 2.1, 50.85, 4.35, 1],
  ['Bucharest', 'Europe', 1.8, 44.43, 26.1, 2],
  ['Budapest', 'Europe', 1.8, 47.5, 19.04, 1],
  ['Copenhagen', 'Europe', 1.3, 55.68, 12.57, 1],
  ['Dublin', 'Europe', 1.2, 53.35, -6.26, 0],
  ['Frankfurt', 'Europe', 0.8, 50.11, 8.68, 1],
  ['Hamburg', 'Europe', 1.8, 53.55, 9.99, 1],
  ['Helsinki', 'Europe', 1.3, 60.17, 24.94, 2],
  ['Istanbul', 'Europe', 15.2, 41.01, 28.98, 3],
  ['Kyiv', 'Europe', 3, 50.45, 30.52, 2],
  ['Lisbon', 'Europe', 2.9, 38.72, -9.14, 0],
  ['London', 'Europe', 9.3, 51.51, -0.13, 0],
  ['Madrid', 'Europe', 6.6, 40.42, -3.7, 1],
  ['Manchester', 'Europe', 2.7, 53.48, -2.24, 0],
  ['Marseille', 'Europe', 1.6, 43.3, 5.37, 1],
  ['Milan', 'Europe', 3.1, 45.46, 9.19, 1],
  ['Munich', 'Europe', 1.5, 48.14, 11.58, 1],
  ['Oslo', 'Europe', 1, 59.91, 10.75, 1],
  ['Paris', 'Europe', 11, 48.86, 2.35, 1],
  ['Prague', 'Europe', 1.3, 50.08, 14.44, 1],
  ['Rome', 'Europe', 4.3, 41.9, 12.5, 1],
  ['Stockholm', 'Europe', 1.6, 59.33, 18.07, 1],
  ['Vienna', 'Europe', 1.9, 48.21, 16.37, 1],
  ['Warsaw', 'Europe', 1.8, 52.23, 21.01, 1],
  ['Zurich', 'Europe', 1.4, 47.37, 8.54, 1],
  ['Atlanta', 'North America', 5.8, 33.75, -84.39, -5],
  ['Boston', 'North America', 4.3, 42.36, -71.06, -5],
  ['Chicago', 'North America', 8.9, 41.88, -87.63, -6],
  ['Dallas', 'North America', 6.3, 32.78, -96.8, -6],
  ['Denver', 'North America', 2.8, 39.74, -104.99, -7],
  ['Guadalajara', 'North America', 5.2, 20.66, -103.35, -6],
  ['Houston', 'North America', 6.4, 29.76, -95.37, -6],
  ['Los Angeles', 'North America', 12.4, 34.05, -118.24, -8],
  ['Mexico City', 'North America', 21.8, 19.43, -99.13, -6],
  ['Miami', 'North America', 6.1, 25.76, -80.19, -5],
  ['Minneapolis', 'North America', 2.9, 44.98, -93.27, -6],
  ['Monterrey', 'North America', 4.9, 25.69, -100.32, -6],
  ['Montreal', 'North America', 4.2, 45.5, -73.57, -5],
  ['New York', 'North America', 18.8, 40.71, -74.01, -5],
  ['Philadelphia', 'North America', 5.7, 39.95, -75.17, -5],
  ['Phoenix', 'North America', 4.5, 33.45, -112.07, -7],
  ['San Francisco', 'North America', 3.3, 37.77, -122.42, -8],
  ['Seattle', 'North America', 3.4, 47.61, -122.33, -8],
  ['Toronto', 'North America', 6.2, 43.65, -79.38, -5],
  ['Vancouver', 'North America', 2.6, 49.28, -123.12, -8],
  ['Washington', 'North America', 5.3, 38.91, -77.04, -5],
  ['Belo Horizonte', 'South America', 6.1, -19.92, -43.94, -3],
  ['Bogotá', 'South America', 11, 4.71, -74.07, -5],
  ['Buenos Aires', 'South America', 15.2, -34.6, -58.38, -3],
  ['Fortaleza', 'South America', 4.1, -3.73, -38.53, -3],
  ['Lima', 'South America', 10.7, -12.05, -77.04, -5],
  ['Rio de Janeiro', 'South America', 13.5, -22.91, -43.17, -3],
  ['Santiago', 'South America', 6.8, -33.45, -70.67, -4],
  ['São Paulo', 'South America', 22, -23.55, -46.63, -3],
  ['Hong Kong', 'East Asia', 7.5, 22.32, 114.17, 8],
  ['Osaka', 'East Asia', 19.2, 34.69, 135.5, 9],
  ['Seoul', 'East Asia', 10, 37.57, 126.98, 9],
  ['Taipei', 'East Asia', 2.7, 25.03, 121.57, 8],
  ['Tokyo', 'East Asia', 37.4, 35.68, 139.69, 9],
  ['Bangkok', 'Southeast Asia', 10.5, 13.76, 100.5, 7],
  ['Ho Chi Minh City', 'Southeast Asia', 8.6, 10.82, 106.63, 7],
  ['Jakarta', 'Southeast Asia', 10.8, -6.21, 106.85, 7],
  ['Kuala Lumpur', 'Southeast Asia', 8, 3.14, 101.69, 8],
  ['Manila', 'Southeast Asia', 13.9, 14.6, 120.98, 8],
  ['Singapore', 'Southeast Asia', 5.9, 1.35, 103.82, 8],
  ['Bengaluru', 'South Asia', 12.3, 12.97, 77.59, 5.5],
  ['Delhi', 'South Asia', 30.3, 28.61, 77.21, 5.5],
  ['Mumbai', 'South Asia', 20.4, 19.08, 72.88, 5.5],
  ['Dubai', 'Middle East', 2.9, 25.2, 55.27, 4],
  ['Riyadh', 'Middle East', 7.2, 24.71, 46.68, 3],
  ['Tel Aviv', 'Middle East', 4.2, 32.09, 34.78, 2],
  ['Cairo', 'Africa', 20.9, 30.04, 31.24, 2],
  ['Cape Town', 'Africa', 4.6, -33.92, 18.42, 2],
  ['Casablanca', 'Africa', 3.8, 33.57, -7.59, 1],
  ['Johannesburg', 'Africa', 5.8, -26.2, 28.05, 2],
  ['Lagos', 'Africa', 14.4, 6.52, 3.38, 1],
  ['Nairobi', 'Africa', 4.7, -1.29, 36.82, 3],
  ['Auckland', 'Oceania', 1.6, -36.85, 174.76, 12],
  ['Brisbane', 'Oceania', 2.4, -27.47, 153.03, 10],
  ['Melbourne', 'Oceania', 5, -37.81, 144.96, 10],
  ['Perth', 'Oceania', 2, -31.95, 115.86, 8],
  ['Sydney', 'Oceania', 4.9, -33.87, 151.21, 10],
] as const

/** Large cities of all continents, for a game that is sold worldwide. */
export const CITIES: readonly City[] = ROWS.map(([name, region, population, latitude, longitude, utcOffsetHours]) => {
  return { name, region, population, latitude, longitude, utcOffsetHours }
})

/**
 * Creates a function that returns the region of a location: that of the nearest large city. Results are cached by
 * degree.
 */
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
