import type { Configuration } from 'openid-client';
import type { Config } from '../../../config/settings.ts';
import type { Log } from '../../../platform/log.ts';
import { readEmail } from '../../../rules/accounts/email.ts';
import { issuerOfMismatch, reasonOfProvider } from './provider-failure.ts';
import type { SignInState } from './sign-in-state.ts';

/** Who signed in at the provider. */
export type Identity = {
  issuer: string;
  subject: string;
  /** In lower case; null where the provider does not say. */
  email: string | null;
  /** Whether the provider checked that the email is theirs. */
  isEmailVerified: boolean;
  name: string | null;
};

// As long as names that users give here.
const MAX_NAME_CHARS = 200;
// OpenID Connect Core allows 255 ASCII characters; PostgreSQL cannot store U+0000.
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const SCOPE = 'openid email profile';
// What the provider says of itself is asked again.
const DISCOVERY_MS = 3_600_000;

type Settings = Pick<Config, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret'>;

/** The OpenID Connect provider of the settings. */
export class Provider {
  readonly #issuer: string;
  readonly #settings: Settings;
  #discovered: { configuration: Promise<Configuration>; untilMs: number } | null = null;

  constructor(issuer: string, settings: Settings) {
    this.#issuer = issuer;
    this.#settings = settings;
  }

  /** Where the browser goes to sign in, and what it must bring back. @throws Error  when the provider is away */
  async begin(redirectUri: string, token: SignInState['token']): Promise<{ url: string; state: SignInState }> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const state = client.randomState();
    const nonce = client.randomNonce();
    const verifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, state: { state, nonce, verifier, redirectUri, token } };
  }

  /**
   * Who came back. @param query  what the provider sent with the browser
   * @throws Error  when anything of it is not what was begun
   */
  async finish({ state, nonce, verifier, redirectUri }: SignInState, query: URLSearchParams): Promise<Identity> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const url = new URL(redirectUri);
    url.search = query.toString();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    const tokens = await client.authorizationCodeGrant(configuration, url, checks);
    const claims = tokens.claims()!;
    if (!SUBJECT.test(claims.sub)) throw new Error('The claim sub is not 1 to 255 printable ASCII characters.');
    // Providers that put these claims in the ID token save the request.
    const more =
      claims['email'] === undefined ? await this.#askUserInfo(configuration, tokens.access_token, claims.sub) : {};
    return identityOf(claims.iss, claims.sub, { ...more, ...claims });
  }

  async #askUserInfo(configuration: Configuration, accessToken: string, subject: string) {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    const client = await import('openid-client');
    return await client.fetchUserInfo(configuration, accessToken, subject);
  }

  /** What the provider says of itself. A failure is not kept. */
  #discover(): Promise<Configuration> {
    if (this.#discovered && performance.now() < this.#discovered.untilMs) return this.#discovered.configuration;
    const configuration = this.#ask();
    const found = { configuration, untilMs: performance.now() + DISCOVERY_MS };
    this.#discovered = found;
    configuration.catch(() => {
      if (this.#discovered === found) this.#discovered = null;
    });
    return configuration;
  }

  /** Asks the provider at the start, so that a wrong setting is in the log before anybody signs in. */
  async check(log: Pick<Log, 'error'>): Promise<void> {
    await this.#discover().catch((error: unknown) => {
      log.error({ err: error }, `nobody can sign in by OpenID Connect: ${reasonOfProvider(error, this.#issuer)}`);
    });
  }

  /** @throws Error */
  async #ask(): Promise<Configuration> {
    try {
      return await this.#askAs(this.#issuer);
    } catch (error) {
      // The same document says both; only the text in it counts for what the provider signs.
      const own = issuerOfMismatch(error);
      const trimmed = (text: string) => text.replace(/\/$/, '');
      if (own === null || trimmed(own) !== trimmed(this.#issuer)) throw error;
      return await this.#askAs(own);
    }
  }

  async #askAs(given: string): Promise<Configuration> {
    const [client, { fetchOfIssuer }] = await Promise.all([
      import('openid-client'),
      import('../../../egress/issuer-fetch.ts'),
    ]);
    const { oidcClientId, oidcClientSecret } = this.#settings;
    const issuer = new URL(given);
    const authentication = oidcClientSecret === null ? client.None() : client.ClientSecretPost(oidcClientSecret);
    return await client.discovery(issuer, oidcClientId!, {}, authentication, {
      [client.customFetch]: fetchOfIssuer,
      execute: [
        // The signature of the ID token is checked too, not only the TLS connection that brings it.
        client.enableNonRepudiationChecks,
        // The settings allow it for this machine only.
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
  }
}

function identityOf(issuer: string, subject: string, claims: Record<string, unknown>): Identity {
  return {
    issuer,
    subject,
    email: readEmail(claims['email']),
    isEmailVerified: claims['email_verified'] === true,
    name: readName(claims['name']) ?? readName(claims['preferred_username']),
  };
}

/** Without control characters, of which PostgreSQL cannot store U+0000. */
function readName(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  return (
    given
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, MAX_NAME_CHARS) || null
  );
}
