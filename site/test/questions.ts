/**
 * Questions that a newcomer types into the search, and the pages that answer them. They were written without knowing
 * the pages.
 */
export const questions: readonly { readonly ask: string; readonly answers: readonly string[] }[] = [
  { ask: 'how do players reconnect after a crash', answers: ['/game-clients.html#resume-after-a-crash'] },
  {
    ask: 'server never ready',
    answers: ['/game-server.html#when-a-server-never-becomes-ready', '/runbooks.html#musterdeploymentsfail'],
  },
  { ask: 'party of friends', answers: ['/ticket-api.html#queue-a-party', '/game-clients.html#play-as-a-group'] },
  { ask: 'what does it cost when nobody plays', answers: ['/servers.html#what-does-it-cost'] },
  { ask: 'migrate config', answers: ['/upgrading.html'] },
  {
    ask: 'rate limit 429',
    answers: ['/serving-players.html#rate-limits-and-other-bounds', '/game-clients.html#handle-errors'],
  },
  { ask: 'kick idle server', answers: ['/servers.html#what-operators-see'] },
  { ask: 'skill rating', answers: ['/ratings.html'] },
  { ask: 'why is my ticket still searching', answers: ['/ticket-api.html#why-does-a-ticket-still-wait'] },
  { ask: 'unity', answers: ['/game-clients.html#unity'] },
  { ask: 'custom private match', answers: ['/operating.html#make-a-private-match'] },
  { ask: 'redis failover', answers: ['/scale-out.html'] },
  { ask: 'prometheus metrics', answers: ['/telemetry.html'] },
  { ask: 'server browser', answers: ['/servers.html#server-browser'] },
  { ask: 'replace a player who left', answers: ['/ticket-api.html#replace-players-who-left-backfills'] },
  { ask: 'widen search over time', answers: ['/rules.html#relax-rules-while-players-wait'] },
  { ask: 'login with jwt', answers: ['/server.html#authenticate-callers'] },
  { ask: 'https websocket certificate', answers: ['/browsers.html'] },
  { ask: 'ban players who leave', answers: ['/operating.html#ban-players-who-leave-cooldowns'] },
  { ask: 'simulate players to test rules', answers: ['/rule-lab.html'] },
]
