import type { TunedCrowd } from '@muster/lab'
import { EXIT, type ExitCode } from '../exit-codes.js'
import type { Terminal } from '../terminal.js'
import { writeProduct } from './product.js'
import type { QueueFile } from './read-queues.js'
import { tellTuned } from './tell-tuned.js'
import type { TuneCommandOptions } from './tune-options.js'
import { patchOf, tunedText, writeTuned } from './tuned-file.js'

/** Tells the result and writes what was asked for. A result that does not hold is not written into the file. */
export async function finishTuned(
  tuned: TunedCrowd,
  file: QueueFile,
  crowdFile: string,
  options: Pick<TuneCommandOptions, 'json' | 'html' | 'patch' | 'write'>,
  terminal: Terminal,
): Promise<ExitCode> {
  const { tunedVerdict } = await import('@muster/lab')
  const holds = tuned.possible && tunedVerdict(tuned).broken.length === 0
  const text = tuned.possible ? await tunedText(file, tuned.queue, tuned.changes) : file.source.text
  const patch = patchOf(file, terminal.folder, text)
  await tellTuned(tuned, { file: file.file, crowd: crowdFile, patch }, options, terminal)
  const { patch: patchFile, write } = options
  if (patchFile !== undefined && patch !== '')
    await writeProduct(patchFile, terminal, async (put) => void (await put(patch)))
  if (write === true && patch !== '') {
    if (holds) await writeTuned(file, terminal.folder, text)
    terminal.complain(holds ? `${file.file} is changed.` : `${file.file} stays as it is: the promises are not kept.`)
  }
  return holds ? EXIT.ok : EXIT.failed
}
