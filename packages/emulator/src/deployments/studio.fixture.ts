import { started, version } from '../emulator.fixture.js'
import type { EmulatorOptions } from '../options.js'

/**
 * Deploy times without spread. Seeking takes 1 s: 0.2, 0.4, 0.1 and 0.3 s by status. Deploying takes 10 s, or 1 s where
 * the image is cached. Terminating takes 1 s.
 */
const steady = { seekMs: 1000, cachedDeployMs: 1000, deployMs: 10_000, terminateMs: 1000, spread: 0 }

export const berlin = { user_type: 'geo_coordinates', user_data: { latitude: 52.52, longitude: 13.4 } }

type Fields = Readonly<Record<string, unknown>>

/**
 * An emulator on a manual clock, with the application `arena` and its version `1.0`, whose deploy times are constant.
 */
export async function studio(options: EmulatorOptions = {}, specification: Fields = {}) {
  const { clock, emulator, call } = started({ deployTimes: steady, limits: false, ...options })
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', {
    ...version,
    ports: [{ port: 7777, protocol: 'UDP', name: 'game' }],
    ...specification,
  })

  const create = (fields: Fields = {}) =>
    call('POST', '/deployments', { application: 'arena', version: '1.0', users: [berlin], ...fields })
  const deploy = async (fields: Fields = {}) => idOf((await create(fields)).body)
  const status = async (id: string) => (await call('GET', `/v1/status/${id}`)).body as Readonly<Record<string, unknown>>
  const stop = (id: string) => call('DELETE', `/v1/stop/${id}`)
  const list = (query?: Fields, rest = '') => {
    const filter = query === undefined ? '' : `query=${encodeURIComponent(JSON.stringify(query))}&`
    return call('GET', `/v1/deployments?${filter}limit=100${rest}`)
  }
  /** Returns the ids in the deployment list, in its order. */
  const listedIds = async (query?: Fields) =>
    ((await list(query)).body as { data: { request_id: string }[] }).data.map((entry) => entry.request_id)

  return { clock, emulator, call, create, deploy, status, stop, list, listedIds }
}

export const idOf = (body: unknown) => (body as { request_id: string }).request_id
