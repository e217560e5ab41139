import { parseArgs } from 'node:util'

export interface DemoOptions {
  /** Number of players who arrive. */
  readonly players: number
  /** Number of players of a match in a single plain queue. Undefined: the three queues of the demo. */
  readonly queueSize: number | undefined
  /** True: plays in lobbies over a relay instead of matches on servers. */
  readonly relay: boolean
  /** Number of lobbies, for `relay`. */
  readonly lobbies: number
  /** True: runs the same crowd twice at the same time, with a server for each match and with a pool of warm servers. */
  readonly warm: boolean
  /** Number of processes that accept tickets together. 0: everything runs in one process. */
  readonly processes: number
  /** True: the service has faults. */
  readonly faults: boolean
  /** Seed that decides who arrives when, and all random choices of the emulator. */
  readonly seed: number
  /** True: prints one JSON object on the standard output instead of the live view. */
  readonly json: boolean
}

export const usage = `Takes real players to running servers, on an emulator of the service in this process.

  --players N      how many arrive (default 2000; with --warm 600)
  --queue-size N   one plain queue of matches of N players, instead of ranked, duel and social
  --relay          lobbies over a relay instead: joins, leaves, kicks, new hosts, and real UDP packets meanwhile
  --lobbies N      how many, with --relay (default 40)
  --warm           the same crowd twice, beside one another: a server for each match, and a pool of warm ones
  --processes N    N processes of the ticket API on one Redis, of which two are killed on the way (2 to 16)
  --faults         the service loses answers, fails and refuses now and then, and the end says how often
  --seed N         another crowd, other chances (default 1)
  --json           one JSON object on stdout instead of the live view
  --help           this`

/** Parses the options. Undefined if only the help text is requested. @throws Error naming the option and the value. */
export function readOptions(args: readonly string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      players: { type: 'string' },
      'queue-size': { type: 'string' },
      relay: { type: 'boolean', default: false },
      lobbies: { type: 'string' },
      warm: { type: 'boolean', default: false },
      processes: { type: 'string' },
      faults: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  if (values.warm && (values.relay || values.processes !== undefined))
    throw new Error('--warm cannot be combined with --relay or --processes')
  const misplaced = values.relay ? (['players', 'queue-size', 'processes'] as const) : (['lobbies'] as const)
  for (const option of misplaced) {
    if (values[option] === undefined) continue
    throw new Error(
      values.relay
        ? `--${option} is for matches on servers; how large the demo of lobbies is, --lobbies says`
        : `--${option} is for lobbies over a relay; give --relay as well`,
    )
  }
  return {
    players: wholeNumber('--players', values.players ?? (values.warm ? '600' : '2000'), 1, 100_000),
    queueSize:
      values['queue-size'] === undefined ? undefined : wholeNumber('--queue-size', values['queue-size'], 1, 500),
    relay: values.relay,
    lobbies: wholeNumber('--lobbies', values.lobbies ?? '40', 1, 100),
    warm: values.warm,
    processes: values.processes === undefined ? 0 : wholeNumber('--processes', values.processes, 2, 16),
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
