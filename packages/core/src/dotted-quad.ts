// pure: IPv4 addresses as four plain decimal numbers, which is their canonical form

const ZERO = 48
const DOT = 46

/**
 * The first two numbers of such an address as one, e.g. 203 * 256 + 0 of `203.0.113.9`; -1 for any other text. Nearly
 * every ticket has such an address, which is looked at several times, and a regular expression takes far longer.
 */
export function leadingHalf(text: string): number {
  let half = 0
  let dots = 0
  let octet = -1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      if (octet === -1 || dots === 3) return -1
      if (dots < 2) half = 256 * half + octet
      dots += 1
      octet = -1
      continue
    }
    const digit = code - ZERO
    // A number that begins with zero has no further digits.
    if (digit < 0 || digit > 9 || octet === 0) return -1
    octet = octet === -1 ? digit : 10 * octet + digit
    if (octet > 255) return -1
  }
  return dots === 3 && octet !== -1 ? half : -1
}

export const isDottedQuad = (text: string): boolean => leadingHalf(text) !== -1
