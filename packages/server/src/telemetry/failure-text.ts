// pure: how a game server failed, in words
import type { ServerFailure } from '@muster/matchmaker'

const failed: Readonly<Record<ServerFailure, string>> = {
  failed: 'A game server failed before it was READY',
  'too-slow': 'A game server was not READY within the readyTimeoutMs of its queue',
  'not-listening': 'A game server was READY but did not listen, by the probe of its queue',
  crashed: 'A game server crashed while players were on it',
}

/** @param detail what the service says of it */
export const failureText = (reason: ServerFailure, detail: string | undefined): string =>
  detail === undefined ? `${failed[reason]}.` : `${failed[reason]}: ${detail}.`
