// pure: the packets that the demo's players exchange
/** Size of a packet: about that of a player's input with a few repetitions. */
const BYTES = 64

/** Creates a packet. @param number 0 for a greeting, which may get lost. */
export function writePacket(number: number, sentAt: number): Buffer {
  const packet = Buffer.alloc(BYTES)
  packet.writeUInt32LE(number)
  packet.writeDoubleLE(sentAt, 4)
  return packet
}

export const readPacket = (packet: Buffer) => ({ number: packet.readUInt32LE(), sentAt: packet.readDoubleLE(4) })
