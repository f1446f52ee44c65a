import type { Delivery } from '#sdk/api.ts';

type Reason = NonNullable<Delivery['error']>['reason'];

/** Why an attempt did not succeed, for the owner of the receiver. */
export type Advice = {
  /** A few words, for a heading or a list. */
  title: string;
  /** One sentence. */
  why: string;
  /** What to do, the most likely first. */
  steps: string[];
};

type Attempt = Pick<Delivery, 'status' | 'error' | 'response_status' | 'timings'>;

/** What a failed or dropped attempt needs; null for one that succeeded or waits. */
export function adviceFor(attempt: Attempt): Advice | null {
  if (attempt.status === 'dropped') return DROPPED;
  if (!attempt.error) return null;
  const { reason } = attempt.error;
  if (reason === 'http_status') return adviceForStatus(attempt.response_status ?? 0);
  if (reason === 'timeout') return adviceForTimeout(attempt);
  return ADVICE[reason];
}

/** The reason in a few words. */
export function reasonTitle(reason: Reason): string {
  return ADVICE[reason].title;
}

const DROPPED: Advice = {
  title: 'Dropped',
  why: 'The attempt was never made: the webhook was disabled or deleted, or the job was erased.',
  steps: ['Enable the webhook again once its receiver works.', 'Then recover the events of that period.'],
};

const ADVICE: Readonly<Record<Reason, Advice>> = {
  http_status: {
    title: 'Not a 2xx answer',
    why: 'The receiver answered with a status that does not mean success.',
    steps: ['Check the log of your server at this time.', 'Answer any 2xx as soon as the event is stored.'],
  },
  redirect: {
    title: 'Redirect',
    why: 'The receiver answered with a redirect. Redirects are never followed.',
    steps: [
      'Register the URL that the Location header of the answer names.',
      'Check for rules that add or remove a trailing slash or www.',
    ],
  },
  timeout: {
    title: 'Timeout',
    why: 'The attempt did not end within its deadline.',
    steps: ['Answer 2xx first, then process the event.'],
  },
  dns: {
    title: 'Name not resolved',
    why: 'The host name of the URL has no address.',
    steps: [
      'Check the spelling of the host name in the URL.',
      'Check its A and AAAA records with a public name server.',
      'After a change of the records, wait until their time to live has passed.',
    ],
  },
  forbidden_address: {
    title: 'Address not allowed',
    why: 'The host name resolves to an address that is not public.',
    steps: [
      'Point every A and AAAA record to a public address: one private address is enough for a refusal.',
      'For a receiver in a private network, ask the operator to allow it with WEBHOOK_ALLOWED_TARGETS.',
    ],
  },
  connect: {
    title: 'No connection',
    why: 'The server does not accept connections on this port.',
    steps: [
      'Check that your server or its proxy runs and listens on port 443.',
      'Check the firewall: connections come from the addresses of this service.',
      'If the name has an IPv6 address, check that the server listens there too.',
    ],
  },
  tls: {
    title: 'TLS failed',
    why: 'The certificate or the TLS version of the server was not accepted.',
    steps: [
      'Check that the certificate has not expired and contains this host name.',
      'Send the intermediate certificates too: browsers often know them, other clients do not.',
      'Use a certificate of a public authority; a self-signed one is refused.',
      'Allow TLS 1.2 or newer.',
    ],
  },
  reset: {
    title: 'Connection closed',
    why: 'The connection was closed before the headers of the answer were complete.',
    steps: [
      'Check whether your handler crashed at this time.',
      'Set the timeout of your proxy higher than the deadline of an attempt.',
      'Check the body limit of your proxy: events have up to 256 KiB.',
    ],
  },
  protocol: {
    title: 'Invalid HTTP',
    why: 'The answer is not valid HTTP/1.1, or its headers exceed 16 KB.',
    steps: ['Check that an HTTPS server listens on this port.', 'Send fewer or shorter headers in the answer.'],
  },
};

/** Every reason, in the order of an attempt's phases. */
export const FAILURE_REASONS = [
  ...([
    'dns',
    'forbidden_address',
    'connect',
    'tls',
    'timeout',
    'reset',
    'protocol',
    'redirect',
    'http_status',
  ] as const),
] satisfies Reason[];

// Most of these come from a proxy or a framework, and not from the handler of the event.
const STATUS_STEPS: [statuses: readonly number[], steps: string[]][] = [
  [
    [400, 422],
    [
      'Your server refused the request: check its log for a failed check of the signature or the body.',
      'Open the signature debugger with this attempt.',
    ],
  ],
  [
    [401, 403],
    [
      'If your code refuses the signature, open the signature debugger with this attempt.',
      'If a gateway needs a token, add it as a custom header of the webhook.',
      'If a bot filter protects the server, exempt this path.',
    ],
  ],
  [
    [404, 405],
    [
      'Check the path of the URL, and that the route accepts POST.',
      'Check that the route is deployed in this environment.',
    ],
  ],
  [[408, 504], ['Your server or its proxy timed out: answer 2xx first, then process the event.']],
  [[411, 413], ['Raise the body limit of your proxy or framework to 256 KiB.']],
  [[415], ['Accept Content-Type: application/json on this route.']],
  [
    [429],
    [
      'Limit the attempts per second in the settings of the webhook.',
      'Exempt this path from the rate limit of your server.',
    ],
  ],
  [
    [502, 503],
    [
      'The proxy answers, but the server behind it does not: check that your server is running.',
      'Check for a deployment or a restart at this time.',
    ],
  ],
];

function adviceForStatus(status: number): Advice {
  const why = `The receiver answered ${status}. Any 2xx counts as delivered.`;
  const special = STATUS_STEPS.find(([statuses]) => statuses.includes(status));
  if (special) return { title: `Answered ${status}`, why, steps: special[1] };
  if (status >= 500)
    return {
      title: `Answered ${status}`,
      why,
      steps: ['Your handler failed: check its log for an exception at this time.'],
    };
  return { ...ADVICE.http_status, title: `Answered ${status}`, why };
}

function adviceForTimeout({ timings }: Attempt): Advice {
  if (timings.reused || timings.tls_ms !== null) {
    return {
      title: 'Timeout, waiting for the answer',
      why: 'The request was sent, but the headers of the answer did not come before the deadline.',
      steps: [
        'Store the event, answer 2xx, then process the event.',
        'Check your handler for a lock, a slow query or a cold start at this time.',
      ],
    };
  }
  if (timings.connect_ms !== null) {
    return {
      title: 'Timeout, in the TLS handshake',
      why: 'TCP connected, but the TLS handshake did not end before the deadline: nothing was sent.',
      steps: ['Check that the server on this port speaks TLS.', 'Check for an overloaded server or proxy.'],
    };
  }
  return {
    title: 'Timeout, no connection',
    why: 'There was no connection before the deadline: nothing was sent.',
    steps: [
      'Check the firewall: it may drop packets without an answer.',
      'Check that the host name resolves to your server.',
    ],
  };
}
