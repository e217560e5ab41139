/** Writes small databases in MaxMind's format, after its specification (MaxMind DB File Format 2.0). */

export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue }

export interface MmdbFixture {
  /** Networks in CIDR notation with their records; they must not overlap. */
  readonly networks: Readonly<Record<string, MmdbValue>>
  /** The tree: for IPv4 only, or for IPv6 with IPv4 at ::/96. Default 6. */
  readonly ipVersion?: 4 | 6
  /** Bits of one record of a node. Default 28. */
  readonly recordSize?: 24 | 28 | 32
  /** Overrides values of the metadata. */
  readonly metadata?: { readonly [key: string]: MmdbValue }
}

const TYPES = { pointer: 1, string: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 }

/**
 * Returns the header of a value: the control byte, the type byte of extended types, and a size that does not fit into
 * the control byte.
 */
function header(type: number, size: number): Buffer {
  if (size > 284) throw new Error(`the fixture writes sizes up to 284, not ${size}`)
  const sizeBits = Math.min(size, 29)
  const first = type > 7 ? [sizeBits, type - 7] : [(type << 5) | sizeBits]
  return Buffer.from(size < 29 ? first : [...first, size - 29])
}

/** Encodes values one after another. A repeated string becomes a pointer, as in real files. */
function createEncoder() {
  const chunks: Buffer[] = []
  const texts = new Map<string, number>()
  let length = 0
  const push = (...parts: Buffer[]) => {
    for (const part of parts) length += part.length
    chunks.push(...parts)
  }
  const writeText = (text: string) => {
    const at = texts.get(text)
    if (at === undefined) {
      texts.set(text, length)
      const bytes = Buffer.from(text)
      return push(header(TYPES.string, bytes.length), bytes)
    }
    // The longest form of a pointer: no bits in the control byte, followed by four bytes.
    const target = Buffer.alloc(4)
    target.writeUInt32BE(at)
    push(Buffer.from([(TYPES.pointer << 5) | 0b11000]), target)
  }
  const writeNumber = (value: number) => {
    const whole = Number.isInteger(value) && value >= 0 && value < 2 ** 32
    const bytes = Buffer.alloc(whole ? 4 : 8)
    if (whole) bytes.writeUInt32BE(value)
    else bytes.writeDoubleBE(value)
    push(header(whole ? TYPES.uint32 : TYPES.double, bytes.length), bytes)
  }
  /** Returns the offset at which the value begins. */
  const write = (value: MmdbValue): number => {
    const at = length
    if (typeof value === 'string') writeText(value)
    else if (typeof value === 'number') writeNumber(value)
    else if (typeof value === 'boolean') push(header(TYPES.boolean, value ? 1 : 0))
    else if (Array.isArray(value)) {
      push(header(TYPES.array, value.length))
      for (const item of value) write(item)
    } else {
      const entries = Object.entries(value)
      push(header(TYPES.map, entries.length))
      for (const [key, item] of entries) {
        writeText(key)
        write(item)
      }
    }
    return at
  }
  return { write, bytes: () => Buffer.concat(chunks) }
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** Returns the leading bits of a network in the tree. */
function bitsOf(cidr: string, ipVersion: 4 | 6): string {
  const [address = '', length] = cidr.split('/')
  if (!address.includes(':')) {
    const bits = address
      .split('.')
      .map((octet) => Number(octet).toString(2).padStart(8, '0'))
      .join('')
    return '0'.repeat(ipVersion === 4 ? 0 : 96) + bits.slice(0, Number(length))
  }
  if (ipVersion === 4) throw new Error(`${cidr}: a fixture with ipVersion 4 cannot contain an IPv6 network`)
  const [left, right] = address.split('::').map(groups) as [number[], number[]?]
  const all = right === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
  return all
    .map((group) => group.toString(2).padStart(16, '0'))
    .join('')
    .slice(0, Number(length))
}

type Child = { readonly node: number } | { readonly data: number } | undefined

function buildTree(networks: readonly (readonly [bits: string, data: number])[]): Child[][] {
  const nodes: Child[][] = [[undefined, undefined]]
  for (const [bits, data] of networks) {
    let node = nodes[0] as Child[]
    for (const bit of bits.slice(0, -1)) {
      const child = node[Number(bit)]
      if (child !== undefined && 'data' in child) throw new Error('the networks of the fixture must not overlap')
      const next = child?.node ?? nodes.push([undefined, undefined]) - 1
      node[Number(bit)] = { node: next }
      node = nodes[next] as Child[]
    }
    node[Number(bits.at(-1))] = { data }
  }
  return nodes
}

function encodeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4)
  const low = recordSize === 32 ? 4 : 3
  bytes.writeUIntBE(left % 2 ** (low * 8), 0, low)
  bytes.writeUIntBE(right % 2 ** (low * 8), bytes.length - low, low)
  // The middle byte holds the highest four bits of both records.
  if (recordSize === 28) bytes.writeUInt8(((left >>> 24) << 4) | (right >>> 24), 3)
  return bytes
}

/** Returns the bytes of a database file. */
export function encodeMmdb({ networks, ipVersion = 6, recordSize = 28, metadata = {} }: MmdbFixture): Buffer {
  const data = createEncoder()
  const tree = buildTree(
    Object.entries(networks).map(([cidr, record]) => [bitsOf(cidr, ipVersion), data.write(record)] as const),
  )
  const pointerOf = (child: Child) => {
    if (child === undefined) return tree.length
    return 'node' in child ? child.node : tree.length + 16 + child.data
  }
  const description = createEncoder()
  description.write({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_225_600,
    database_type: 'Test-City',
    description: { en: 'a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: tree.length,
    record_size: recordSize,
    ...metadata,
  })
  return Buffer.concat([
    ...tree.map(([left, right]) => encodeNode(pointerOf(left), pointerOf(right), recordSize)),
    Buffer.alloc(16),
    data.bytes(),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    description.bytes(),
  ])
}
