import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const MOST = 256

/**
 * Reduces a PNG (8 bits per channel, not interlaced, as Chromium writes it) to a palette of 256 colours. A page has few
 * colours, so the file shrinks to a third. Each pixel gets the nearest of the most frequent colours.
 */
export function smallPng(png: Buffer): Buffer {
  const { width, height, channels, data } = read(png)
  const pixels = width * height
  const counts = new Map<number, number>()
  const rounded = new Uint32Array(pixels)
  for (let pixel = 0; pixel < pixels; pixel++) {
    const at = pixel * channels
    const colour = ((data[at] as number) << 16) | ((data[at + 1] as number) << 8) | (data[at + 2] as number)
    rounded[pixel] = colour
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MOST)
    .map(([colour]) => colour)
  const indexes = new Map(palette.map((colour, index) => [colour, index]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let pixel = 0; pixel < pixels; pixel++) {
    const colour = rounded[pixel] as number
    const index = indexes.get(colour) ?? nearest(colour, palette)
    indexes.set(colour, index)
    rows[pixel + Math.floor(pixel / width) + 1] = index
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]))
  const parts = [chunk('IHDR', header), chunk('PLTE', colours), chunk('IDAT', deflateSync(rows, { level: 9 }))]
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))])
}

function nearest(colour: number, palette: readonly number[]): number {
  let [best, least] = [0, Infinity]
  for (const [index, other] of palette.entries()) {
    const [red, green, blue] = [16, 8, 0].map((shift) => ((colour >> shift) & 0xff) - ((other >> shift) & 0xff))
    const distance = 2 * (red as number) ** 2 + 4 * (green as number) ** 2 + 3 * (blue as number) ** 2
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}

function read(png: Buffer) {
  const idat: Buffer[] = []
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') idat.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const channels = png[25] === 6 ? 4 : 3
  return {
    width,
    height,
    channels,
    data: unfiltered(inflateSync(Buffer.concat(idat)), width * channels, height, channels),
  }
}

/** Undoes the filters of a PNG's lines (PNG 1.2, section 6). */
function unfiltered(raw: Buffer, stride: number, height: number, step: number): Uint8Array {
  const data = new Uint8Array(stride * height)
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)]
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column
      const left = column < step ? 0 : (data[at - step] as number)
      const up = row === 0 ? 0 : (data[at - stride] as number)
      const corner = row === 0 || column < step ? 0 : (data[at - stride - step] as number)
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] as number
      data[at] = ((raw[row * (stride + 1) + 1 + column] as number) + guess) & 0xff
    }
  }
  return data
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const frame = Buffer.alloc(8 + body.length)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), 4 + body.length)
  return frame
}
