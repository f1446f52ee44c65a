import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import net from 'node:net';

/** What `tls.createServer` takes; PEM. */
export type ServerCertificate = { cert: string; key: string };

export type CertificateOptions = {
  /** Host names and IP addresses that the certificate is valid for. */
  hosts: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
};

export type CertificateAuthority = {
  /** PEM. Clients that connect must trust it (`ca`, NODE_EXTRA_CA_CERTS). */
  cert: string;
  issue(options: CertificateOptions): ServerCertificate;
};

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

/**
 * A certificate authority whose key is kept in memory only: for receivers on loopback in the demo and in tests.
 * node:crypto cannot issue certificates, and openssl may not be installed.
 * Keys are P-256; the format is X.509 version 3 (RFC 5280).
 * @internal  receivers of tests have authorities that clients do not trust
 */
export function makeAuthority(name = 'Verbatim temporary CA'): CertificateAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = commonName(name);
  const cert = certificate({
    subject,
    issuer: subject,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    extensions: [extension('2.5.29.19', sequence(TRUE), true), extension('2.5.29.15', bits(0b0000_0110), true)],
  });
  return {
    cert,
    issue(options) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const issued = certificate({
        ...options,
        subject: commonName(options.hosts[0] ?? 'nobody'),
        issuer: subject,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [extension('2.5.29.17', sequence(...options.hosts.map(alternativeName)))],
      });
      return { cert: issued, key: pemOfKey(privateKey) };
    },
  };
}

/**
 * A server certificate for these names and addresses, and the certificate of the temporary authority that issued it.
 */
export function makeCertificates(hosts: { names: string[]; addresses: string[] }): ServerCertificate & { ca: string } {
  const authority = makeAuthority();
  return { ...authority.issue({ hosts: [...hosts.names, ...hosts.addresses] }), ca: authority.cert };
}

/**
 * A self-signed certificate.
 * @internal  receivers of tests show it
 */
export function makeSelfSigned(options: CertificateOptions): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = commonName(options.hosts[0] ?? 'nobody');
  const extensions = [extension('2.5.29.17', sequence(...options.hosts.map(alternativeName)))];
  const cert = certificate({ ...options, subject, issuer: subject, publicKey, signingKey: privateKey, extensions });
  return { cert, key: pemOfKey(privateKey) };
}

type Content = {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  signingKey: KeyObject;
  extensions: Buffer[];
  notBefore?: Date;
  notAfter?: Date;
};

function certificate(content: Content): string {
  const notBefore = content.notBefore ?? new Date(Date.now() - DAY_MS);
  const notAfter = content.notAfter ?? new Date(Date.now() + 365 * DAY_MS);
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    content.issuer,
    sequence(time(notBefore), time(notAfter)),
    content.subject,
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...content.extensions)),
  );
  const signature = sign('sha256', toBeSigned, content.signingKey);
  return pem('CERTIFICATE', sequence(toBeSigned, ECDSA_WITH_SHA256, der(0x03, Buffer.of(0), signature)));
}

function alternativeName(host: string): Buffer {
  if (net.isIP(host) === 0) return der(0x82, Buffer.from(host, 'latin1'));
  return der(0x87, net.isIPv4(host) ? Buffer.from(host.split('.').map(Number)) : addressBytes(host));
}

/** The 16 bytes of an IPv6 address without an embedded IPv4 one. */
function addressBytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')];
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function commonName(name: string): Buffer {
  const attribute = sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(name)));
  return sequence(der(0x31, attribute));
}

const TRUE = der(0x01, Buffer.of(0xff));

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [TRUE] : []), der(0x04, value));
}

function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  // UTCTime until 2049, with a year of two digits; GeneralizedTime from then on (RFC 5280, 4.1.2.5).
  return at.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function bits(value: number): Buffer {
  return der(0x03, Buffer.of(1, value));
}

function integer(value: Buffer): Buffer {
  return der(0x02, value);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(0x06, Buffer.from(bytes));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** Tag, length, content (X.690). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function pemOfKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
