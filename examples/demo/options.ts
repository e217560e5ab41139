import { parseArgs } from 'node:util'

export interface DemoOptions {
  /** How many arrive. */
  readonly players: number
  /** Players in a match. */
  readonly queueSize: number
  /** Let the service misbehave. */
  readonly faults: boolean
  /** Decides who arrives when, and everything the emulator leaves to chance. */
  readonly seed: number
  /** One JSON object on stdout instead of the live view. */
  readonly json: boolean
}

export const usage = `Takes real players to running servers, on an emulator of the service in this process.

  --players N      how many arrive (default 2000)
  --queue-size N   players in a match (default 10)
  --faults         the service loses answers, fails and refuses now and then
  --seed N         another crowd, other chances (default 1)
  --json           one JSON object on stdout instead of the live view
  --help           this`

/** Undefined when only help is wanted. @throws Error naming the option and the value. */
export function readOptions(args: readonly string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      players: { type: 'string', default: '2000' },
      'queue-size': { type: 'string', default: '10' },
      faults: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return {
    players: wholeNumber('--players', values.players, 1, 100_000),
    queueSize: wholeNumber('--queue-size', values['queue-size'], 1, 500),
    faults: values.faults,
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 32 - 1),
    json: values.json,
  }
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number
  throw new Error(`${option} must be a whole number from ${least} to ${most}, got ${JSON.stringify(text)}`)
}
