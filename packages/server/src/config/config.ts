import type { Queue } from '@muster/matchmaker'
import type { RelativePath, SecretSource } from './places.js'
import type { ConfigFile } from './schema/file.js'
import type { Secret } from './secret.js'

/** A part of the file as the program uses it: secrets are read, and paths are absolute. */
export type Resolved<T> = T extends SecretSource
  ? Secret
  : T extends RelativePath
    ? string
    : T extends readonly (infer Entry)[]
      ? readonly Resolved<Entry>[]
      : T extends object
        ? { readonly [Key in keyof T]: Resolved<T[Key]> }
        : T

/** The configuration, with every default filled in. It holds no secret that could be printed. */
export type Config = Omit<Resolved<ConfigFile>, 'queues' | 'store'> & {
  readonly queues: readonly Queue[]
  readonly store: StoreConfig
}

/** Where the program remembers. */
export type StoreConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'folder'; /** Absolute. */ readonly path: string; readonly fsync: Folder['fsync'] }
  | ({ readonly kind: 'redis' } & Redis)

type Given = Exclude<Resolved<ConfigFile>['store'], 'memory'>
type Folder = Extract<Given, { readonly folder: string }>
type Redis = Extract<Given, { readonly redis: object }>['redis']

/** The store as the program uses it. */
export function storeOf(given: Resolved<ConfigFile>['store']): StoreConfig {
  if (given === 'memory') return { kind: 'memory' }
  return 'redis' in given
    ? { kind: 'redis', ...given.redis }
    : { kind: 'folder', path: given.folder, fsync: given.fsync }
}
