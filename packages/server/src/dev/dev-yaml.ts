/**
 * What `muster dev` runs without a configuration: three queues that show most of what queues can do. Two players are
 * enough for a match in each of them, after a while. The service is replaced by the emulator.
 */
export const devYaml = `
name: dev
service: { url: http://localhost, token: { env: UNUSED } }
queues:
  - name: duel
    matchSize: 2
    mode: arrival
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 800 }, { afterMs: 5000, value: 2500 }, { afterMs: 15000, value: 8000 }]
      - { kind: difference, attribute: skill, max: { from: 60, to: 600, overMs: 20000 } }
    lastResortMs: 30000
    deploy: { application: my-game, version: '1.0' }

  - name: ranked
    teams:
      - { name: team, count: 2, size: { min: [{ afterMs: 0, value: 5 }, { afterMs: 10000, value: 1 }], max: 5 } }
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 1500 }, { afterMs: 6000, value: 4000 }, { afterMs: 12000, value: 12000 }]
      - { kind: difference, attribute: skill, max: { from: 200, to: 800, startMs: 3000, overMs: 10000 } }
      - { kind: roles, roles: { tank: 1, healer: 1 } }
      - { kind: balance, attribute: skill, max: { from: 60, to: 300, overMs: 10000 } }
    lastResortMs: 10000
    acceptance: { withinMs: 20000 }
    deploy: { application: my-game, version: '1.0' }

  - name: social
    teams:
      - name: crew
        size: { min: [{ afterMs: 0, value: 8 }, { afterMs: 10000, value: 4 }, { afterMs: 20000, value: 2 }], max: 12 }
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 2000 }, { afterMs: 15000, value: 6000 }]
      - { kind: overlap, attribute: maps }
    lastResortMs: 60000
    deploy: { application: my-game, version: '1.0' }

spending: { pricePerMinute: 0.0015, currency: USD, maxServers: 5000, maxStarting: 1000 }
lobbies: { enabled: true }
telemetry: { log: { format: text } }
`
