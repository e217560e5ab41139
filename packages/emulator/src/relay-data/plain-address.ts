import { isIPv4, SocketAddress } from 'node:net'

const MAPPED = '::ffff:'

/** One text for all ways to write an address; that of IPv4 also for one that is mapped into IPv6. Without a zone. */
export function plainAddress(text: string): string {
  if (isIPv4(text)) return text
  const [unzoned = ''] = text.split('%', 1)
  const { address } = new SocketAddress({ address: unzoned, family: 'ipv6' })
  const mapped = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : ''
  return isIPv4(mapped) ? mapped : address
}

/** @param address as `plainAddress` gives it. */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
