// pure: the locations of the emulator's servers

/**
 * The location of a place: the seven basic location fields of the specification, by their wire names (service-api,
 * Location).
 */
export interface PlaceLocation {
  readonly city: string
  readonly country: string
  readonly continent: string
  readonly administrative_division: string
  /** The IANA time zone, e.g. `Europe/Berlin`. */
  readonly timezone: string
  /** Degrees, positive north of the equator. */
  readonly latitude: number
  /** Degrees, positive east of Greenwich. */
  readonly longitude: number
}

/** A city where the emulator has servers. The cities are real. It is not public which cities the service has. */
export interface Place {
  /** A stable short name: the city's in lower-case ASCII, e.g. `sao-paulo`. */
  readonly id: string
  readonly location: PlaceLocation
  /** The type of the location. No other type was ever sampled (service-api, Resources). */
  readonly type: 'standard'
  /** The location's tags, which the location list contains on request. */
  readonly tags: readonly { readonly key: string; readonly value: string }[]
  /**
   * True if the place is in mainland China. Versions with `will_deploy_in_mainland_china: true` run only there, and no
   * other version runs there.
   */
  readonly mainlandChina: boolean
}

/** A beacon: a host to which players measure the round trip, by UDP and TCP echo. */
export interface PlaceBeacon {
  readonly host: string
  readonly fqdn: string
  readonly udp_port: number
  readonly tcp_port: number
  readonly location: PlaceLocation
}

/**
 * City, administrative division, country, time zone, latitude, longitude. Coordinates are rounded to a hundredth of a
 * degree, about a kilometre.
 */
type CityRow = readonly [
  city: string,
  division: string,
  country: string,
  timezone: string,
  latitude: number,
  longitude: number,
]

/**
 * Returns the city's name in lower case, without accents and with hyphens for spaces, so that it fits into a host name.
 */
const idOf = (city: string) =>
  city
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(' ', '-')

const cities = (continent: string, region: string, rows: readonly CityRow[]): readonly Place[] =>
  rows.map(([city, administrative_division, country, timezone, latitude, longitude]) => ({
    id: idOf(city),
    location: { city, country, continent, administrative_division, timezone, latitude, longitude },
    type: 'standard',
    tags: [{ key: 'region', value: region }],
    mainlandChina: region === 'cn',
  }))

/** The cities by region, as edge providers group theirs; the first region of a continent is its densest. */
export const places: readonly Place[] = [
  ...cities('Europe', 'eu-west', [
    ['Amsterdam', 'North Holland', 'Netherlands', 'Europe/Amsterdam', 52.37, 4.9],
    ['Dublin', 'Leinster', 'Ireland', 'Europe/Dublin', 53.35, -6.26],
    ['Frankfurt', 'Hesse', 'Germany', 'Europe/Berlin', 50.11, 8.68],
    ['London', 'England', 'United Kingdom', 'Europe/London', 51.51, -0.13],
    ['Paris', 'Île-de-France', 'France', 'Europe/Paris', 48.86, 2.35],
    ['Zurich', 'Zurich', 'Switzerland', 'Europe/Zurich', 47.37, 8.54],
  ]),
  ...cities('Europe', 'eu-south', [
    ['Athens', 'Attica', 'Greece', 'Europe/Athens', 37.98, 23.73],
    ['Lisbon', 'Lisbon', 'Portugal', 'Europe/Lisbon', 38.72, -9.14],
    ['Madrid', 'Community of Madrid', 'Spain', 'Europe/Madrid', 40.42, -3.7],
    ['Marseille', "Provence-Alpes-Côte d'Azur", 'France', 'Europe/Paris', 43.3, 5.37],
    ['Milan', 'Lombardy', 'Italy', 'Europe/Rome', 45.46, 9.19],
  ]),
  ...cities('Europe', 'eu-north', [
    ['Copenhagen', 'Capital Region', 'Denmark', 'Europe/Copenhagen', 55.68, 12.57],
    ['Helsinki', 'Uusimaa', 'Finland', 'Europe/Helsinki', 60.17, 24.94],
    ['Oslo', 'Oslo', 'Norway', 'Europe/Oslo', 59.91, 10.75],
    ['Stockholm', 'Stockholm County', 'Sweden', 'Europe/Stockholm', 59.33, 18.07],
  ]),
  ...cities('Europe', 'eu-east', [
    ['Bucharest', 'Bucharest', 'Romania', 'Europe/Bucharest', 44.43, 26.1],
    ['Istanbul', 'Istanbul', 'Turkey', 'Europe/Istanbul', 41.01, 28.98],
    ['Kyiv', 'Kyiv City', 'Ukraine', 'Europe/Kyiv', 50.45, 30.52],
    ['Vienna', 'Vienna', 'Austria', 'Europe/Vienna', 48.21, 16.37],
    ['Warsaw', 'Mazovia', 'Poland', 'Europe/Warsaw', 52.23, 21.01],
  ]),
  ...cities('North America', 'na-east', [
    ['Ashburn', 'Virginia', 'United States', 'America/New_York', 39.04, -77.49],
    ['Atlanta', 'Georgia', 'United States', 'America/New_York', 33.75, -84.39],
    ['Miami', 'Florida', 'United States', 'America/New_York', 25.76, -80.19],
    ['Montreal', 'Quebec', 'Canada', 'America/Toronto', 45.5, -73.57],
    ['New York', 'New York', 'United States', 'America/New_York', 40.71, -74.01],
    ['Toronto', 'Ontario', 'Canada', 'America/Toronto', 43.65, -79.38],
  ]),
  ...cities('North America', 'na-central', [
    ['Chicago', 'Illinois', 'United States', 'America/Chicago', 41.88, -87.63],
    ['Dallas', 'Texas', 'United States', 'America/Chicago', 32.78, -96.8],
    ['Denver', 'Colorado', 'United States', 'America/Denver', 39.74, -104.99],
    ['Querétaro', 'Querétaro', 'Mexico', 'America/Mexico_City', 20.59, -100.39],
  ]),
  ...cities('North America', 'na-west', [
    ['Los Angeles', 'California', 'United States', 'America/Los_Angeles', 34.05, -118.24],
    ['Phoenix', 'Arizona', 'United States', 'America/Phoenix', 33.45, -112.07],
    ['San Jose', 'California', 'United States', 'America/Los_Angeles', 37.34, -121.89],
    ['Seattle', 'Washington', 'United States', 'America/Los_Angeles', 47.61, -122.33],
    ['Vancouver', 'British Columbia', 'Canada', 'America/Vancouver', 49.28, -123.12],
  ]),
  ...cities('South America', 'sa', [
    ['Bogotá', 'Bogotá', 'Colombia', 'America/Bogota', 4.71, -74.07],
    ['Buenos Aires', 'Buenos Aires', 'Argentina', 'America/Argentina/Buenos_Aires', -34.6, -58.38],
    ['Fortaleza', 'Ceará', 'Brazil', 'America/Fortaleza', -3.73, -38.53],
    ['Lima', 'Lima', 'Peru', 'America/Lima', -12.05, -77.04],
    ['Santiago', 'Santiago Metropolitan', 'Chile', 'America/Santiago', -33.45, -70.67],
    ['São Paulo', 'São Paulo', 'Brazil', 'America/Sao_Paulo', -23.55, -46.63],
  ]),
  ...cities('Asia', 'ap-northeast', [
    ['Hong Kong', 'Hong Kong', 'Hong Kong', 'Asia/Hong_Kong', 22.32, 114.17],
    ['Osaka', 'Osaka', 'Japan', 'Asia/Tokyo', 34.69, 135.5],
    ['Seoul', 'Seoul', 'South Korea', 'Asia/Seoul', 37.57, 126.98],
    ['Taipei', 'Taipei', 'Taiwan', 'Asia/Taipei', 25.03, 121.57],
    ['Tokyo', 'Tokyo', 'Japan', 'Asia/Tokyo', 35.68, 139.69],
  ]),
  ...cities('Asia', 'cn', [
    ['Beijing', 'Beijing', 'China', 'Asia/Shanghai', 39.9, 116.41],
    ['Guangzhou', 'Guangdong', 'China', 'Asia/Shanghai', 23.13, 113.26],
    ['Shanghai', 'Shanghai', 'China', 'Asia/Shanghai', 31.23, 121.47],
  ]),
  ...cities('Asia', 'ap-southeast', [
    ['Bangkok', 'Bangkok', 'Thailand', 'Asia/Bangkok', 13.76, 100.5],
    ['Jakarta', 'Jakarta', 'Indonesia', 'Asia/Jakarta', -6.21, 106.85],
    ['Manila', 'Metro Manila', 'Philippines', 'Asia/Manila', 14.6, 120.98],
    ['Singapore', 'Singapore', 'Singapore', 'Asia/Singapore', 1.35, 103.82],
  ]),
  ...cities('Asia', 'ap-south', [
    ['Chennai', 'Tamil Nadu', 'India', 'Asia/Kolkata', 13.08, 80.27],
    ['Delhi', 'Delhi', 'India', 'Asia/Kolkata', 28.61, 77.21],
    ['Mumbai', 'Maharashtra', 'India', 'Asia/Kolkata', 19.08, 72.88],
  ]),
  ...cities('Asia', 'me', [
    ['Almaty', 'Almaty', 'Kazakhstan', 'Asia/Almaty', 43.24, 76.89],
    ['Dubai', 'Dubai', 'United Arab Emirates', 'Asia/Dubai', 25.2, 55.27],
    ['Riyadh', 'Riyadh', 'Saudi Arabia', 'Asia/Riyadh', 24.71, 46.68],
    ['Tel Aviv', 'Tel Aviv', 'Israel', 'Asia/Jerusalem', 32.09, 34.78],
  ]),
  ...cities('Africa', 'af', [
    ['Cairo', 'Cairo', 'Egypt', 'Africa/Cairo', 30.04, 31.24],
    ['Cape Town', 'Western Cape', 'South Africa', 'Africa/Johannesburg', -33.92, 18.42],
    ['Johannesburg', 'Gauteng', 'South Africa', 'Africa/Johannesburg', -26.2, 28.05],
    ['Lagos', 'Lagos', 'Nigeria', 'Africa/Lagos', 6.52, 3.38],
    ['Nairobi', 'Nairobi', 'Kenya', 'Africa/Nairobi', -1.29, 36.82],
  ]),
  ...cities('Oceania', 'oc', [
    ['Auckland', 'Auckland', 'New Zealand', 'Pacific/Auckland', -36.85, 174.76],
    ['Melbourne', 'Victoria', 'Australia', 'Australia/Melbourne', -37.81, 144.96],
    ['Perth', 'Western Australia', 'Australia', 'Australia/Perth', -31.95, 115.86],
    ['Sydney', 'New South Wales', 'Australia', 'Australia/Sydney', -33.87, 151.21],
  ]),
]

/**
 * The beacons: one for each place, in the order of `places`. The hosts are documentation addresses (RFC 5737), where
 * nothing answers.
 */
export const beacons: readonly PlaceBeacon[] = places.map(({ id, location }, index) => ({
  host: `203.0.113.${index + 1}`,
  fqdn: `beacon-${id}.emulator.invalid`,
  udp_port: 30_000,
  tcp_port: 30_001,
  location,
}))
