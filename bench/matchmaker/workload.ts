import { seededRandom } from '@muster/core/clock'

/** Latitude, longitude and weight of the cities around which players live. */
const CITIES: readonly (readonly [latitude: number, longitude: number, weight: number])[] = [
  [40.71, -74.0, 18],
  [34.05, -118.24, 13],
  [41.88, -87.63, 9],
  [29.76, -95.37, 7],
  [33.45, -112.07, 5],
  [39.95, -75.17, 6],
  [32.78, -96.8, 7],
  [37.77, -122.42, 6],
  [47.6, -122.33, 4],
  [25.76, -80.19, 6],
  [33.75, -84.39, 6],
  [45.5, -73.57, 4],
  [43.65, -79.38, 6],
  [49.28, -123.12, 2.5],
  [19.43, -99.13, 12],
  [4.71, -74.07, 6],
  [-12.05, -77.04, 5],
  [-33.45, -70.67, 4],
  [-34.6, -58.38, 8],
  [-23.55, -46.63, 14],
  [-22.9, -43.2, 8],
  [-8.05, -34.9, 3],
  [51.5, -0.12, 12],
  [53.48, -2.24, 5],
  [48.86, 2.35, 10],
  [52.37, 4.9, 5],
  [50.11, 8.68, 6],
  [52.52, 13.4, 6],
  [48.14, 11.58, 5],
  [40.42, -3.7, 6],
  [41.39, 2.17, 4],
  [45.46, 9.19, 5],
  [41.9, 12.5, 4],
  [52.23, 21.01, 5],
  [50.08, 14.44, 3],
  [47.5, 19.04, 3],
  [44.43, 26.1, 3],
  [59.33, 18.07, 3],
  [55.68, 12.57, 2.5],
  [60.17, 24.94, 2],
  [55.75, 37.62, 9],
  [59.93, 30.34, 4],
  [50.45, 30.52, 4],
  [41.01, 28.98, 9],
  [30.04, 31.24, 7],
  [24.71, 46.68, 4],
  [25.2, 55.27, 4],
  [-26.2, 28.05, 5],
  [6.52, 3.38, 5],
  [19.08, 72.88, 11],
  [28.61, 77.21, 11],
  [12.97, 77.59, 6],
  [13.76, 100.5, 6],
  [1.35, 103.82, 5],
  [-6.21, 106.85, 9],
  [14.6, 120.98, 8],
  [10.82, 106.63, 5],
  [22.32, 114.17, 5],
  [31.23, 121.47, 12],
  [39.9, 116.41, 11],
  [23.13, 113.26, 9],
  [25.03, 121.57, 4],
  [37.57, 126.98, 12],
  [35.68, 139.69, 16],
  [34.69, 135.5, 8],
  [-33.87, 151.21, 5],
  [-37.81, 144.96, 4],
  [-36.85, 174.76, 1.5],
]

const KM_PER_DEGREE = 111.19

export interface Sample {
  /** Location in degrees. */
  readonly latitude: number
  readonly longitude: number
  /** Skill from 0 to 3000, with a mean of about 1500. */
  readonly skill: number
  /** Seconds that the ticket has waited: exponentially distributed, 8 on average. */
  readonly waitedS: number
  /** Number of players: one in 60 % of tickets, five in 5 %. */
  readonly size: number
}

/**
 * The steps by which limits relax: seconds of waiting, kilometres, and difference in skill. Two tickets match if both
 * allow it.
 */
export const STEPS = [
  { afterS: 0, km: 500, skill: 50 },
  { afterS: 5, km: 1000, skill: 100 },
  { afterS: 10, km: 2000, skill: 200 },
  { afterS: 20, km: 5000, skill: 400 },
] as const

/** Returns the index of the step that a ticket has reached. */
export const stepOf = ({ waitedS }: Sample): number => STEPS.findLastIndex(({ afterS }) => waitedS >= afterS)

/** Returns the limits between two tickets, which are those of the ticket that has waited less. */
export const limitsBetween = (one: Sample, other: Sample): (typeof STEPS)[number] =>
  STEPS[Math.min(stepOf(one), stepOf(other))] as (typeof STEPS)[number]

/**
 * Creates tickets of a game that is played worldwide. 70 % live within some 60 km of a city, the others within some 250
 * km.
 */
export function createSampler(seed: number): () => Sample {
  const random = seededRandom(seed)
  let total = 0
  const upTo = CITIES.map(([, , weight]) => (total += weight))
  const gaussian = () => {
    let u = 0
    while (u === 0) u = random()
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * random())
  }
  return () => {
    const drawn = random() * total
    const [cityLatitude, cityLongitude] = CITIES[upTo.findIndex((weight) => weight >= drawn)] as (typeof CITIES)[number]
    const km = random() < 0.7 ? 60 : 250
    const latitude = Math.max(-85, Math.min(85, cityLatitude + (gaussian() * km) / KM_PER_DEGREE))
    const east = (gaussian() * km) / (KM_PER_DEGREE * Math.cos((cityLatitude * Math.PI) / 180))
    const longitude = ((((cityLongitude + east + 180) % 360) + 360) % 360) - 180
    const skill = Math.max(0, Math.min(3000, 1500 + 300 * gaussian()))
    const waitedS = -Math.log(1 - random()) * 8
    const party = random()
    const size = party < 0.6 ? 1 : party < 0.8 ? 2 : party < 0.9 ? 3 : party < 0.95 ? 4 : 5
    return { latitude, longitude, skill, waitedS, size }
  }
}
