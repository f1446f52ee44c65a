import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import pg from 'pg';
import { type ConnectionTls, readConnectionUrl } from '../rules/database/connection-tls.ts';
import { UnusableDatabaseError } from './unusable-database-error.ts';

// Members of pg that its types leave out.
type Options = pg.ClientConfig & { isTlsOptional?: boolean; sslnegotiation?: string; enableChannelBinding?: boolean };
type ConnectionOptions = Record<string, unknown> & { isTlsOptional?: boolean | undefined };
type RawConnection = {
  connect(port: number, host: string): void;
  attachListeners(stream: NodeJS.ReadableStream): void;
};

/**
 * The options of a connection to the database that a URL names. The parameters of the URL for TLS have the meaning that
 * libpq gives them.
 * @throws UnusableDatabaseError  when the URL is wrong, or a file that it names cannot be read
 */
export function connectionOptions(url: string, more: pg.ClientConfig = {}): Options {
  const read = readConnectionUrl(url);
  if ('mistake' in read) throw new UnusableDatabaseError(`The URL of the database ${read.mistake}.`);
  return {
    application_name: 'verbatim',
    ...more,
    connectionString: read.url,
    ...(read.tls && { ssl: tlsOptions(read.tls), isTlsOptional: read.tls.use === 'maybe' }),
    ...(read.isTlsDirect && { sslnegotiation: 'direct' }),
    ...(read.bindsChannel && { enableChannelBinding: true }),
  };
}

/** A connection to PostgreSQL; every one of the service is made here. @param config  of `connectionOptions` */
export class DatabaseClient extends pg.Client {
  readonly isTlsOptional: boolean;

  constructor(config: Options = {}) {
    super(config.isTlsOptional ? withOptionalTls(config) : config);
    this.isTlsOptional = config.isTlsOptional ?? false;
  }
}

/** A connection without a client, for a request to cancel. */
export function openConnection(options: ConnectionOptions): pg.Connection {
  const Connection = options.isTlsOptional ? OptionalTlsConnection : pg.Connection;
  return new (Connection as unknown as new (options: ConnectionOptions) => pg.Connection)(options);
}

function withOptionalTls(config: Options): pg.ClientConfig {
  const { ssl, keepAlive, keepAliveInitialDelayMillis, isTlsOptional } = config;
  const connection = openConnection({ ssl, keepAlive, keepAliveInitialDelayMillis, isTlsOptional });
  return { ...config, connection } as pg.ClientConfig;
}

function tlsOptions({ use, check, rootCertificate, client }: ConnectionTls): tls.ConnectionOptions | false {
  if (use === 'never') return false;
  return {
    rejectUnauthorized: check !== 'nothing',
    ...(check === 'chain' && { checkServerIdentity: () => undefined }),
    ...(rootCertificate !== null && check !== 'nothing' && { ca: authorities(rootCertificate) }),
    ...(client && {
      cert: readPem('sslcert', client.certificate),
      key: readPem('sslkey', client.key),
      ...(client.passphrase !== null && { passphrase: client.passphrase }),
    }),
  };
}

function authorities(rootCertificate: string): string | string[] {
  if (rootCertificate !== 'system') return readPem('sslrootcert', rootCertificate);
  return [...tls.getCACertificates('system'), ...tls.getCACertificates('extra')];
}

/** @throws UnusableDatabaseError */
function readPem(parameter: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new UnusableDatabaseError(
      `The URL of the database names ${file} as ${parameter}, which cannot be read (${code}). Put the file there, readable for the service's user.`,
      { cause },
    );
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new UnusableDatabaseError(`The URL of the database names ${file} as ${parameter}, which is no PEM file.`);
}

/** Goes on without TLS where the server has none, as libpq does with `sslmode=prefer`. */
class OptionalTlsConnection extends pg.Connection {
  connect(port: number, host: string): void {
    (pg.Connection.prototype as unknown as RawConnection).connect.call(this, port, host);
    const { stream } = this;
    // The server's answer to the request for TLS: S or N.
    const [onAnswer] = stream.rawListeners('data') as [(answer: Buffer) => void];
    stream.removeListener('data', onAnswer);
    stream.once('data', (answer: Buffer) => {
      if (answer.toString() !== 'N') return onAnswer.call(stream, answer);
      (this as unknown as RawConnection).attachListeners(stream);
      this.emit('sslconnect');
    });
  }
}
