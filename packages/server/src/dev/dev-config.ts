import type { Config } from '../config/config.js'
import { readConfig, readConfigText } from '../config/read-config.js'
import { Secret } from '../config/secret.js'
import { devYaml } from './dev-yaml.js'

export interface DevConfigOptions {
  /** The configuration of the game; undefined for an example. */
  readonly path: string | undefined
  readonly port: number
  /** Of the emulator. */
  readonly service: { readonly url: string; readonly token: string }
}

/**
 * What `muster dev` runs: queues, rules, bounds and lobbies of the file; but the emulator as the service, memory as the
 * store, and one token for everything in place of `auth` and `profiles`, so that no secret is needed.
 * @throws {InvalidConfig} with all that is wrong in the file
 */
export async function readDevConfig({ path, port, service }: DevConfigOptions): Promise<Config> {
  const { config } =
    path === undefined
      ? await readConfigText(devYaml, { path: 'muster.yaml', outside: false })
      : await readConfig(path, { outside: false })
  const { telemetry } = config
  return {
    ...config,
    listen: { host: '127.0.0.1', port, publicUrl: undefined },
    service: { ...config.service, url: service.url, token: new Secret(service.token), share: 1 },
    store: { kind: 'memory' },
    auth: { jwt: undefined, keys: [] },
    profiles: undefined,
    streamTokens: { ...config.streamTokens, key: undefined },
    telemetry: { log: { ...telemetry.log, format: 'text' }, metrics: { ...telemetry.metrics, key: undefined } },
  }
}
