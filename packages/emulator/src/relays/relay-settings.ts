/** Settings of relay sessions on which services may differ, or which are our choice. */
export interface RelaySettings {
  /** Milliseconds of the service's time until a new session is ready. Default 1500. */
  readonly readyMs: number
  /** The answer to a revoke: the session (200) or no body (204); both have been seen (public fact). Default 200. */
  readonly revokeAnswers: 200 | 204
  /**
   * The status text of a ready session; READY was sampled, and `Linked` has been seen (public fact). Default `READY`.
   */
  readonly readyStatus: string
}

export const defaultRelaySettings: RelaySettings = { readyMs: 1500, revokeAnswers: 200, readyStatus: 'READY' }
