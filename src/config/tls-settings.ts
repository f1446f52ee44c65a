import { setting } from './setting.ts';
import * as read from './values.ts';

/** The settings of the listener with TLS. */
export const TLS_SETTINGS = {
  tlsCertFile: setting(
    'TLS_CERT_FILE',
    null,
    'PEM file with a certificate and those that sign it: the API and the console are then served with TLS too, on TLS_PORT; a renewed file is used within a minute',
    read.optional(read.file),
  ),
  tlsKeyFile: setting('TLS_KEY_FILE', null, 'PEM file with the key of the certificate', read.optional(read.file)),
  tlsPort: setting('TLS_PORT', '8443', 'port for TLS, on HOST; used with TLS_CERT_FILE', read.integer(0, 65_535)),
};
