// pure: what the demo's players send one another
/** As much as a player's input with a few repeats of it. */
const BYTES = 64

/** @param number 0 for a greeting, which may get lost. */
export function writePacket(number: number, sentAt: number): Buffer {
  const packet = Buffer.alloc(BYTES)
  packet.writeUInt32LE(number)
  packet.writeDoubleLE(sentAt, 4)
  return packet
}

export const readPacket = (packet: Buffer) => ({ number: packet.readUInt32LE(), sentAt: packet.readDoubleLE(4) })
