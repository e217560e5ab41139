/** The exports of `@muster/server` for programs: the functions behind the command `muster`. */
export { type Config, configJsonSchema, type StoreConfig } from './config/config.js'
export { type Finding, InvalidConfig } from './config/findings.js'
export { readConfig, readConfigText, type ReadConfig, type ReadOptions } from './config/read-config.js'
export { Secret } from './config/secret.js'
export { version } from './version.js'
export { startServer, type MusterServer, type ServerDeps } from './running/start-server.js'
