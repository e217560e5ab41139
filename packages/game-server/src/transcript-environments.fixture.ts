// Unusual situations of a game server, for `transcript.test.ts`.

/** Variables of the deployment service, to test the deployment and the ports that the server reads. */
export const ENVIRONMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the prefix of the specification is found by its request id': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: '{"ports":{"game":{"name":"game","internal":7777,"external":30000,"protocol":"UDP"}}}',
    ARBITRIUM_PORTS_MAPPING: '{"ports":{"other":{"internal":1}}}',
  },
  'the prefix of a live service is found by its request id': {
    ARBITRIUM_REQUEST_ID: 'r1',
    ARBITRIUM_PORTS_MAPPING: '{"ports":{"game":{"internal":7777,"external":30000},"web":{"internal":8080}}}',
    SERVICE_PORTS_MAPPING: '{"ports":{"other":{"internal":1}}}',
  },
  'the prefix is set': {
    MUSTER_SERVICE_PREFIX: 'ACME',
    ACME_PORT_GAME_INTERNAL: '7777',
    ACME_PORT_GAME_EXTERNAL: '30000',
    ACME_PORT_WEB_SOCKET_INTERNAL: '8080',
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORT_OTHER_INTERNAL: '1',
  },
  'without a request id the prefix is that of the specification': {
    ARBITRIUM_REQUEST_ID: '',
    SERVICE_PORT_GAME_INTERNAL: '7777',
    ARBITRIUM_PORT_OTHER_INTERNAL: '1',
  },
  'without a request id the deployment is that of the URL which stops it': {
    SERVICE_DELETE_URL: 'https://service.example/v1/self/stop/r2/access-1',
  },
  'the request id counts before the URL': {
    ARBITRIUM_REQUEST_ID: 'r1',
    ARBITRIUM_DELETE_URL: 'https://service.example/v1/self/stop/r2/access-1',
  },
  'the request id and the URL have the prefix that is set': {
    MUSTER_SERVICE_PREFIX: 'ACME',
    ACME_DELETE_URL: 'https://service.example/self/stop/x/v1/self/stop/r3/access-1',
    SERVICE_REQUEST_ID: 'r1',
  },
  'a URL of another form names no deployment': {
    SERVICE_DELETE_URL: 'https://service.example/v1/self/stop/r2',
  },
  'a URL without an id names no deployment': {
    SERVICE_DELETE_URL: 'https://service.example/v1/self/stop//access-1',
  },
  'an empty URL names no deployment': { SERVICE_REQUEST_ID: '', SERVICE_DELETE_URL: '' },
  'what is no port is left out': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: JSON.stringify({
      ports: { a: null, b: { internal: '7' }, c: { internal: 70_000 }, d: { internal: 1.5 }, e: 5, f: { internal: 9 } },
    }),
  },
  'without a mapping that can be read, the variables of each port count': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: '{"ports":[',
    SERVICE_PORT_GAME_INTERNAL: '7777',
    SERVICE_PORT_A_INTERNAL: '',
    SERVICE_PORT_B_INTERNAL: ' 7',
    SERVICE_PORT_C_INTERNAL: '1e3',
    SERVICE_PORT_D_INTERNAL: '99999',
    SERVICE_PORT__INTERNAL: '7',
  },
}
