/** How a connection to PostgreSQL uses TLS, and what of the server's certificate is checked. */
export type ConnectionTls = {
  /** `maybe`: with TLS where the server offers it. */
  use: 'never' | 'maybe' | 'always';
  /** `chain`: the CA that signed the certificate; `name`: also the name of the host. */
  check: 'nothing' | 'chain' | 'name';
  /** PEM file of the CA; `system`: the CAs of the machine; null: those that Node knows, and NODE_EXTRA_CA_CERTS. */
  rootCertificate: string | null;
  /** PEM files of this client; the passphrase opens the key. */
  client: { certificate: string; key: string; passphrase: string | null } | null;
};

/** A URL in two parts: what the client of PostgreSQL reads by itself, and the rest. */
export type ConnectionUrl = {
  /** Without the parameters below. */
  url: string;
  /** Null: no parameter of the URL says it. */
  tls: ConnectionTls | null;
  /** TLS begins without asking the server first, which PostgreSQL 17 and newer can. */
  isTlsDirect: boolean;
  bindsChannel: boolean;
};

/** As libpq names them (https://www.postgresql.org/docs/current/libpq-ssl.html); `no-verify` is of node-postgres. */
const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const OWN = ['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslnegotiation'];
const TAKEN = new Set(['sslmode', 'channel_binding', 'uselibpqcompat', ...OWN]);
// What libpq would check, and this service would not.
const NOT_SERVED = ['sslcrl', 'sslcrldir', 'sslcertmode', 'requirepeer', 'require_auth', 'gssencmode'];

/**
 * Reads the parameters of a URL that say how TLS is used, with the meaning that libpq gives them, but for two:
 * without `sslmode`, a certificate in the URL means `verify-full`, and `allow` is `prefer`.
 * Returns the mistake as a phrase that follows the setting's name.
 */
export function readConnectionUrl(text: string): ConnectionUrl | { mistake: string } {
  const [base = '', query = ''] = splitOnce(text, '?');
  const pairs = query.split('&').filter((pair) => pair !== '');
  const given = new Map<string, string>();
  for (const pair of pairs) {
    const [name, value = ''] = splitOnce(pair, '=').map(decoded);
    if (value !== '') given.set(name!, value);
  }
  const mistake = mistakeOf(given);
  if (mistake !== null) return { mistake };
  const isTls = [...given.keys()].some((name) => name === 'sslmode' || OWN.includes(name));
  const rest = pairs.filter((pair) => {
    const name = decoded(splitOnce(pair, '=')[0]!);
    return !TAKEN.has(name) && !(isTls && name === 'ssl');
  });
  return {
    url: rest.length > 0 ? `${base}?${rest.join('&')}` : base,
    tls: isTls ? tlsOf(given, isUnixSocket(base, given)) : null,
    isTlsDirect: given.get('sslnegotiation') === 'direct',
    bindsChannel: ['prefer', 'require'].includes(given.get('channel_binding') ?? ''),
  };
}

function mistakeOf(given: Map<string, string>): string | null {
  const mode = given.get('sslmode');
  if (mode !== undefined && !MODES.includes(mode))
    return `has sslmode=${mode}; it must be one of ${MODES.slice(0, -1).join(', ')}`;
  if (given.get('sslrootcert') === 'system' && ![undefined, 'verify-full'].includes(mode))
    return `has sslrootcert=system with sslmode=${mode}: anybody can have a certificate of a public CA; set sslmode=verify-full`;
  if (given.has('sslcert') !== given.has('sslkey')) return 'has one of sslcert and sslkey; they need each other';
  if (given.get('sslnegotiation') === 'direct' && ['disable', 'allow', 'prefer'].includes(mode ?? ''))
    return `has sslnegotiation=direct with sslmode=${mode}; set sslmode=require or a stricter one`;
  const unserved = NOT_SERVED.find((name) => !['', 'disable', 'prefer', 'allow'].includes(given.get(name) ?? ''));
  return unserved ? `has the parameter ${unserved}, which this service does not apply; remove it` : null;
}

function tlsOf(given: Map<string, string>, isSocket: boolean): ConnectionTls {
  const mode = given.get('sslmode') ?? 'verify-full';
  const rootCertificate = given.get('sslrootcert') ?? null;
  const certificate = given.get('sslcert');
  return {
    use: isSocket || mode === 'disable' ? 'never' : ['allow', 'prefer'].includes(mode) ? 'maybe' : 'always',
    check: checkOf(mode, rootCertificate !== null),
    rootCertificate,
    client: certificate
      ? { certificate, key: given.get('sslkey')!, passphrase: given.get('sslpassword') ?? null }
      : null,
  };
}

function checkOf(mode: string, hasRoot: boolean): ConnectionTls['check'] {
  // Without a CA of its own, a chain proves nothing: libpq refuses that, and here the name is checked too.
  if (mode === 'verify-full' || (mode === 'verify-ca' && !hasRoot)) return 'name';
  return mode === 'verify-ca' || (mode === 'require' && hasRoot) ? 'chain' : 'nothing';
}

/** libpq ignores sslmode there. */
function isUnixSocket(base: string, given: Map<string, string>): boolean {
  return given.get('host')?.startsWith('/') ?? /^[^/]*\/\/([^/]*@)?%2f/i.test(base);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
