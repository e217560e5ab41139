import { type Caller } from './admission.js'
import { createSets } from '../runtime/index.js'
import { Problem } from './answers.js'

/** The open long polls and event streams. Each of them holds a connection. */
export interface OpenWaits<Who extends Caller> {
  /**
   * Counts a wait that begins. If the caller has too many open waits, the oldest of them is ended. The client of an old
   * wait may be gone, which some servers do not report.
   * @param end ends the wait, as a timeout would.
   * @returns a function to call when the wait is over. Calling it again changes nothing.
   * @throws {Problem} 503 if all callers together have too many open waits.
   */
  enter(caller: Who, end: () => void): () => void
  open(): number
}

interface WaitLimits<Who extends Caller> {
  /** Maximum number of long polls and event streams that one caller may have open. */
  readonly perCaller: number
  /** Maximum number of long polls and event streams that may be open in total. */
  readonly inAll: number
  /** Returns true for callers who may have any number open, up to `inAll`. Default: none. */
  readonly isExempt?: ((caller: Who) => boolean) | undefined
  /** Returns the key by which a caller's waits are counted. Default: the caller's id. */
  readonly countedBy?: ((caller: Who) => string) | undefined
}

export function createOpenWaits<Who extends Caller>({
  perCaller,
  inAll,
  isExempt = () => false,
  countedBy = ({ id }) => id,
}: WaitLimits<Who>): OpenWaits<Who> {
  /** The functions that end the waits of each caller, the oldest first. */
  const byCaller = createSets<string, () => void>()
  let open = 0
  const forget = (id: string, end: () => void) => {
    if (byCaller.delete(id, end)) open -= 1
  }
  return {
    enter: (caller, given) => {
      const id = countedBy(caller)
      const own = byCaller.of(id)
      const [oldest] = own
      if (oldest !== undefined && own.size >= perCaller && !isExempt(caller)) {
        forget(id, oldest)
        oldest()
      }
      if (open >= inAll)
        throw new Problem(
          503,
          'busy',
          'Too many requests are waiting for changes. Repeat the request without waiting.',
          { retryAfterMs: 5000 },
        )
      const end = () => given()
      byCaller.add(id, end)
      open += 1
      return () => forget(id, end)
    },
    open: () => open,
  }
}
