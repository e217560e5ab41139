/** The configuration file: its schema, its reader, and its faults. */
export { PUBLIC_ALGORITHMS, SHARED_ALGORITHMS } from './auth-schema.js'
export { type Config, FILE_VERSION, type StoreConfig, storeFilesIn, withKeys } from './config.js'
export { checkQueues, createFindings, type Finding, InvalidConfig, type PathFault } from './findings.js'
export {
  needTextFile,
  readConfig,
  type ReadConfig,
  readConfigText,
  type ReadOptions,
  readWithDefaults,
} from './read-config.js'
export { unreadableWords } from './read-text.js'
export { Secret } from './secret.js'
export { checkPools } from './servers-schema.js'
export { endsInVersion, isPublic, withoutService } from './warnings.js'
export { readYaml, type Source } from './yaml-source.js'
