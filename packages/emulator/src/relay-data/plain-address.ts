import { isIPv4, SocketAddress } from 'node:net'

const MAPPED = '::ffff:'

/** Normalizes an address to one spelling: without a zone, and IPv4 mapped into IPv6 as IPv4. */
export function plainAddress(text: string): string {
  if (isIPv4(text)) return text
  const [unzoned = ''] = text.split('%', 1)
  const { address } = new SocketAddress({ address: unzoned, family: 'ipv6' })
  const mapped = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : ''
  return isIPv4(mapped) ? mapped : address
}

/**
 * Whether an address is a loopback address.
 * @param address as returned by `plainAddress`.
 */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
