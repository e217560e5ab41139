import type { CrowdHeader, CrowdParty } from '../crowd.js'

/** UTF-16 units that are written at once (our choice: a call for each line would take longer than making it). */
const CHUNK = 2 ** 16

/**
 * Writes a crowd as lines of JSON: its header, then its parties. It holds little of the text at a time.
 * @param write waits until more may be written; false ends it, as nobody reads any more.
 */
export async function writeCrowd(
  { header, parties }: { readonly header: CrowdHeader; readonly parties: Iterable<CrowdParty> },
  write: (text: string) => boolean | void | Promise<boolean | void>,
): Promise<void> {
  let text = `${JSON.stringify(header)}\n`
  for (const party of parties) {
    text += `${JSON.stringify(party)}\n`
    if (text.length < CHUNK) continue
    if ((await write(text)) === false) return
    text = ''
  }
  if (text !== '') await write(text)
}
