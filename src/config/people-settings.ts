import { setting } from './setting.ts';
import * as read from './values.ts';

/** The settings of how people sign in, and of what counts as the address of whoever tries. */
export const PEOPLE_SETTINGS = {
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    '',
    'list of addresses or networks, such as 127.0.0.1 or 10.0.0.0/8: a request from one of them has the client address that `X-Forwarded-For` names',
    read.networks,
  ),
  oidcIssuer: setting(
    'OIDC_ISSUER',
    null,
    'https:// URL of the OpenID Connect provider by which users sign in; http:// on this machine only',
    read.optional(read.issuer),
  ),
  oidcClientId: setting('OIDC_CLIENT_ID', null, 'id of this service at the provider', read.optional(read.text)),
  oidcClientSecret: setting(
    'OIDC_CLIENT_SECRET',
    null,
    'secret of this service at the provider; without it the service is a public client',
    read.optional(read.text),
  ),
  oidcName: setting(
    'OIDC_NAME',
    null,
    'what the console calls the provider',
    read.optional(read.text),
    'host of `OIDC_ISSUER`',
  ),
  passwordSignIn: setting(
    'PASSWORD_SIGN_IN',
    null,
    'on, or off: users do not sign in with passwords',
    read.optional(read.oneOf(['on', 'off'])),
    '`on`; `off` where `OIDC_ISSUER` is set',
  ),
};
