import { createHash } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { canonicalIp } from '@muster/core'
import { z } from 'zod'
import { type Deploy, ENROLLED, type Enrolled } from '../records/index.js'

/** A key with which servers enrol in a pool: plain data, e.g. from JSON. */
export interface EnrolmentDefinition {
  /** Secret of at least 32 characters. Its id is the first 8 hex digits of its SHA-256. */
  readonly key: string
  /** Name of one of the pool's `places`: the location of the servers, which their processes cannot choose. */
  readonly place: string
  /** Maximum number of concurrent servers with this key. */
  readonly max: number
  /** Maximum number of concurrent matches of each server. Default 64. */
  readonly matches?: number | undefined
  /**
   * Allowed addresses of the servers: networks such as `203.0.113.0/24`, addresses, and host names. Default: only the
   * address of the enrolment request's sender.
   */
  readonly hosts?: readonly string[] | undefined
  /** Allowed builds of the servers. Default: the version that the pool deploys. For a pool without `deploy`: any. */
  readonly builds?: readonly string[] | undefined
  /** If set, Muster tests whether it can reach a port, and sends no players before. Default: the address is trusted. */
  readonly knock?:
    | {
        readonly kind: 'tcp' | 'udp'
        /** Name of the port among the server's reported ports. */
        readonly port: string
        /** Milliseconds of the test, with one attempt a second. A server that fails it is removed. Default 30,000. */
        readonly withinMs?: number | undefined
      }
    | undefined
}

const SHORTEST_KEY = 32
const NAME = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i

/** The schema of a key. It is a refinement, because a refinement's error message does not contain the secret. */
export const enrolmentKeySchema = z
  .string()
  .refine((key) => key.length >= SHORTEST_KEY && key.length <= 512 && /^[!-~]+$/.test(key), {
    error: `must have ${SHORTEST_KEY} to 512 visible ASCII characters`,
  })

/** Returns the schema of an entry of `enrol`, which also accepts its own output. @param key schema of `key` */
export const enrolmentSchemaWith = <Key>(key: z.ZodType<Key>) =>
  z.strictObject({
    key,
    place: z.string().min(1).max(64),
    max: z.int().min(1).max(10_000),
    matches: z.int().min(1).max(64).default(64),
    hosts: z
      .array(z.string().refine(isHost, 'must be a network such as 203.0.113.0/24, an address or a name'))
      .min(1)
      .max(64)
      .optional(),
    builds: z.array(z.string().min(1).max(128)).min(1).max(64).optional(),
    knock: z
      .strictObject({
        kind: z.enum(['tcp', 'udp']),
        port: z.string().min(1).max(64),
        withinMs: z.number().min(1000).max(120_000).default(30_000),
      })
      .optional(),
  })

/** A key of a pool, validated, with defaults filled in. */
export type Enrolment = Readonly<z.output<ReturnType<typeof enrolmentSchemaWith<string>>>>

/** Returns the SHA-256 of a key in hex digits. Keys are compared by these digests. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Digests of the keys, cached because keys are compared often. */
const digests = new WeakMap<Enrolment, string>()

function digestIn(enrolment: Enrolment): string {
  const digest = digests.get(enrolment) ?? digestOf(enrolment.key)
  digests.set(enrolment, digest)
  return digest
}

/** True if the key of the enrolment has this digest. */
export const hasDigest = (enrolment: Enrolment, digest: string): boolean => digestIn(enrolment) === digest

/** Returns the id of a key for operators and the store: the first 8 hex digits of its SHA-256. */
export const enrolmentIdOf = (enrolment: Enrolment): string => digestIn(enrolment).slice(0, 8)

/** A key of a pool, with its limits and without the secret, for operators. */
export interface EnrolmentView extends Omit<Enrolment, 'key' | 'hosts' | 'knock'> {
  /** The first 8 hex digits of the SHA-256 of the key. */
  readonly key: string
  /** Name of the pool. */
  readonly pool: string
}

export const enrolmentViewsOf = (pool: KeyedPool & { readonly name: string }): readonly EnrolmentView[] =>
  pool.enrol.map((enrolment) => {
    const { place, max, matches, builds = pool.source === ENROLLED ? undefined : [pool.deploy.version] } = enrolment
    return { key: enrolmentIdOf(enrolment), pool: pool.name, place, max, matches, builds }
  })

/** The part of a pool that decides about its keys. */
interface KeyedPool {
  readonly source?: string | undefined
  readonly deploy: Pick<Deploy, 'version'>
  readonly enrol: readonly Enrolment[]
}

/** True if servers with this key may run this build. */
export function mayRun({ deploy, source }: KeyedPool, { builds }: Enrolment, build: string | undefined): boolean {
  if (builds !== undefined) return build !== undefined && builds.includes(build)
  return source === ENROLLED || build === deploy.version
}

/** True if a server with this key may have this address. @param from address of the enrolment request's sender */
export function mayBeAt({ hosts }: Enrolment, host: string, from: string | undefined): boolean {
  if (hosts === undefined) return from !== undefined && plain(host) === plain(from)
  return hosts.some((allowed) => isWithin(allowed, host))
}

/** Returns the key of an enrolled server, as configured. Undefined if the key was removed. */
export const enrolmentOf = (pool: Pick<KeyedPool, 'enrol'>, { key }: Enrolled): Enrolment | undefined =>
  pool.enrol.find((one) => enrolmentIdOf(one) === key)

/**
 * Returns why an enrolled server must end: `retired` if its key was removed, `update` if its build is no longer
 * allowed. Undefined if it may continue.
 */
export function enrolmentEnd(pool: KeyedPool, enrolled: Enrolled): 'retired' | 'update' | undefined {
  const enrolment = enrolmentOf(pool, enrolled)
  if (enrolment === undefined) return 'retired'
  return mayRun(pool, enrolment, enrolled.build) ? undefined : 'update'
}

/** Returns the canonical form of an address, and a name in lower case. */
const plain = (host: string) => canonicalIp(host) ?? host.toLowerCase()

function isHost(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (bits === undefined) return family !== 0 || (NAME.test(text) && !/^[\d.]+$/.test(text))
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

function isWithin(allowed: string, given: string): boolean {
  const host = plain(given)
  const family = isIP(host)
  const [network = '', bits] = allowed.split('/')
  if (family === 0 || isIP(network) === 0) return plain(allowed) === host
  if (isIP(network) !== family) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(network, bits === undefined ? (family === 4 ? 32 : 128) : Number(bits), type)
  return list.check(host, type)
}
