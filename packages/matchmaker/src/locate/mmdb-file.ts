import { Reader, type Response } from 'mmdb-lib'

/** A database in MaxMind's format (MMDB 2.0), in memory. */
export interface MmdbFile {
  /** The type of database in its metadata, e.g. `GeoLite2-City`. */
  readonly type: string
  /** Returns the record of an address in canonical form; undefined if the file has none. */
  lookup(ip: string): unknown
  /** Returns the records of the first `networks` networks in order of address. */
  firstRecords(networks: number): unknown[]
}

/** Bytes that precede the metadata at the end of the file. */
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
/** Zero bytes between the search tree and the data. */
const SEPARATOR_BYTES = 16

/** Makes the error for a database that cannot be used. */
export const cannotRead = (name: string, cause: unknown) =>
  new Error(`cannot read ${name}: ${cause instanceof Error ? cause.message : cause}`, { cause })

/**
 * Opens and checks a database. Without these checks, mmdb-lib opens a truncated or foreign file, and a later lookup
 * fails or returns wrong records.
 */
function open(bytes: Buffer): Reader<Response> {
  const metadataAt = bytes.lastIndexOf(METADATA_MARKER)
  if (metadataAt === -1) throw new Error('the file has no MMDB metadata: it is truncated or not an MMDB file')
  const reader = new Reader<Response>(bytes)
  const { binaryFormatMajorVersion: version, ipVersion, nodeCount, searchTreeSize } = reader.metadata
  if (version !== 2) throw new Error(`the MMDB format version must be 2, got ${version}`)
  if (ipVersion !== 4 && ipVersion !== 6) throw new Error(`the MMDB IP version must be 4 or 6, got ${ipVersion}`)
  if (!(nodeCount > 0)) throw new Error('the MMDB search tree is empty')
  const separator = bytes.subarray(searchTreeSize, searchTreeSize + SEPARATOR_BYTES)
  if (searchTreeSize + SEPARATOR_BYTES > metadataAt || separator.some((byte) => byte !== 0)) {
    throw new Error('the MMDB search tree does not end where the metadata says: a part of the file is missing')
  }
  return reader
}

function toText(address: bigint, bits: number): string {
  const hex = address.toString(16).padStart(bits / 4, '0')
  if (bits === 128) return (hex.match(/.{4}/g) ?? []).join(':')
  return (hex.match(/../g) ?? []).map((octet) => Number.parseInt(octet, 16)).join('.')
}

function firstRecords(reader: Reader<Response>, networks: number): unknown[] {
  const bits = reader.metadata.ipVersion === 4 ? 32 : 128
  const records: unknown[] = []
  let address = 0n
  for (let seen = 0; seen < networks && address < 1n << BigInt(bits); seen++) {
    const [record, prefix] = reader.getWithPrefixLength(toText(address, bits))
    if (record !== null) records.push(record)
    address += 1n << BigInt(bits - prefix)
  }
  return records
}

/**
 * Opens a database.
 * @param name name of the database in errors, usually its path.
 * @throws Error with this name if the database is corrupt. Some faults are found only by a lookup, which then throws
 *   the same error. The message never contains the address.
 */
export function openMmdb(bytes: Buffer, name: string): MmdbFile {
  const reading = <Result>(read: () => Result): Result => {
    try {
      return read()
    } catch (cause) {
      throw cannotRead(name, cause)
    }
  }
  const reader = reading(() => open(bytes))
  const ipv4Only = reader.metadata.ipVersion === 4
  return {
    type: reader.metadata.databaseType,
    lookup: (ip) => {
      // mmdb-lib would look up the first 32 bits of the IPv6 address, as if they were an IPv4 address.
      if (ipv4Only && ip.includes(':')) return undefined
      return reading(() => reader.get(ip)) ?? undefined
    },
    firstRecords: (networks) => reading(() => firstRecords(reader, networks)),
  }
}
