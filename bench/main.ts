/** `pnpm bench <suite> [part ...]`: measures the figures that are promised, and compares them with other libraries. */
import { runBench, type Suites } from './command.js'
import type { Task } from './matchmaker/kernel-workload.js'

const kernel = (task: Task, tickets: number) => async () =>
  (await import('./matchmaker/kernel.js')).kernelFigures(task, tickets)

const suites: Suites = {
  core: {
    client: async () => (await import('./core/client.js')).clientFigures(),
    footprint: async () => (await import('./core/footprint.js')).footprintFigures(),
    scheduler: async () => (await import('./core/scheduler.js')).schedulerFigures(),
    'slow-reads': async () => (await import('./core/slow-reads.js')).slowReadFigures(),
    'undocumented-limit': async () => (await import('./core/undocumented-limit.js')).undocumentedLimitFigures(),
    'cold-burst': async () => (await import('./core/cold-burst.js')).coldBurstFigures(),
  },
  matchmaker: {
    'kernel-pairs-10k': kernel('pairs', 10_000),
    'kernel-pairs-100k': kernel('pairs', 100_000),
    'kernel-pairs-1m': kernel('pairs', 1_000_000),
    'kernel-tens-10k': kernel('tens', 10_000),
    'kernel-tens-100k': kernel('tens', 100_000),
    'kernel-tens-1m': kernel('tens', 1_000_000),
    'kernel-parties-100k': kernel('parties', 100_000),
    'growth-pairs': async () => (await import('./matchmaker/growth.js')).growthFigures('pairs'),
    'growth-tens': async () => (await import('./matchmaker/growth.js')).growthFigures('tens'),
    'pair-cost': async () => (await import('./matchmaker/pair-cost.js')).pairCostFigures(),
    'arriving-teams': async () => (await import('./matchmaker/arriving-teams.js')).arrivingTeamFigures(),
    whole: async () => (await import('./matchmaker/whole.js')).wholeFigures(),
    ticks: async () => (await import('./matchmaker/ticks.js')).tickFigures(),
    'loop-delay': async () => (await import('./matchmaker/loop-delay.js')).loopDelayFigures(),
    'many-queues': async () => (await import('./matchmaker/many-queues.js')).manyQueueFigures(),
    slope: async () => (await import('./matchmaker/slope.js')).slopeFigures(),
    'ticket-log': async () => (await import('./matchmaker/ticket-log.js')).ticketLogFigures(),
    'ticket-api': async () => (await import('./matchmaker/ticket-api.js')).ticketApiFigures(),
  },
  waits: {
    following: async () => (await import('./matchmaker/following.js')).followingFigures(),
    waits: async () => (await import('./matchmaker/waits.js')).waitFigures(),
    'wait-cost': async () => (await import('./matchmaker/wait-cost.js')).waitCostFigures(),
    'target-wait': async () => (await import('./matchmaker/target-wait.js')).targetWaitFigures(),
  },
  lab: {
    'match-cost': async () => (await import('./matchmaker/match-cost.js')).matchCostFigures(),
    learning: async () => (await import('./lab/learning.js')).learningFigures(),
    patience: async () => (await import('./matchmaker/patience.js')).patienceFigures(),
    'arriving-cost': async () => (await import('./lab/arriving-cost.js')).arrivingCostFigures(),
    speed: async () => (await import('./lab/speed.js')).speedFigures(),
  },
  relay: {
    lobbies: async () => (await import('./relay/lobbies.js')).lobbyFigures(),
    listing: async () => (await import('./relay/listing.js')).listingFigures(),
    'lost-answers': async () => (await import('./relay/lost-answers.js')).lostAnswerFigures(),
    'data-plane-64': async () => (await import('./relay/data-plane.js')).dataPlaneFigures(64),
    'data-plane-1200': async () => (await import('./relay/data-plane.js')).dataPlaneFigures(1200),
  },
  server: {
    creates: async () => (await import('./server/creates.js')).createFigures(),
    streams: async () => (await import('./server/streams.js')).streamFigures(),
    start: async () => (await import('./server/start.js')).startFigures(),
    'console-cost': async () => (await import('./server/console-cost.js')).consoleCostFigures(),
    overload: async () => (await import('./server/overload.js')).overloadFigures(),
  },
  servers: {
    warm: async () => (await import('./servers/warm.js')).warmFigures(),
    beats: async () => (await import('./servers/beats.js')).beatFigures(),
    recovery: async () => (await import('./servers/recovery.js')).recoveryFigures(),
    browse: async () => (await import('./servers/servers-browse.js')).serversBrowseFigures(),
  },
  redis: {
    limits: async () => (await import('./redis/limits.js')).limitFigures(),
    partition: async () => (await import('./redis/partition.js')).partitionFigures(),
    'store-cost': async () => (await import('./redis/store-cost.js')).storeFigures(),
  },
}

process.exitCode = await runBench(suites, process.argv.slice(2), console)
