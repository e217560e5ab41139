import type { TunedCrowd } from '@muster/lab'
import type { Terminal } from '../terminal.js'
import { writeProduct } from './product.js'
import type { TuneCommandOptions } from './tune-options.js'

/** What the result is told with. */
export interface TunedNames {
  /** The file of the queue, and that of the crowd. */
  readonly file: string
  readonly crowd: string
  /** Empty if nothing changes. */
  readonly patch: string
}

/** Tells the result on the standard output: tables and sentences, or JSON; and as a page, if that is wanted. */
export async function tellTuned(
  tuned: TunedCrowd,
  { file, crowd, patch }: TunedNames,
  { json, html, patch: patchFile, write }: Pick<TuneCommandOptions, 'json' | 'html' | 'patch' | 'write'>,
  terminal: Terminal,
): Promise<void> {
  const { frontHtml, tunedChanges, tunedSentences, tunedTables, tunedVerdict } = await import('@muster/lab')
  if (html !== undefined) {
    const page = await frontHtml({
      title: `${tuned.queue.name} of ${file}, tuned for ${crowd}`,
      sentences: [...tunedSentences(tuned), ...tunedChanges(tuned)],
      front: tuned.front,
      promisedMs: tuned.promises.waitP90Ms,
      patch: patch === '' ? undefined : patch,
    })
    await writeProduct(html, terminal, async (put) => void (await put(page)))
  }
  if (json === true) {
    const told = { file, crowd, ...tuned, verdict: tunedVerdict(tuned), sentences: tunedSentences(tuned), patch }
    await terminal.put(`${JSON.stringify(told, forPrograms)}\n`)
    return
  }
  terminal.say(tunedTables(tuned, file))
  terminal.say(`\n${tunedSentences(tuned).join('\n')}`)
  if (patch !== '' && patchFile === undefined && write !== true) terminal.say(`\n${patch.trimEnd()}`)
}

/** Figures of single runs are too much, and JSON has no Infinity: it is told as a text. */
const forPrograms = (key: string, value: unknown): unknown =>
  key === 'figures' ? undefined : value === Infinity ? 'Infinity' : value
