import { ApiError, unavailable } from '../../../http/api-error.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, Type } from '../../../http/schema.ts';
import { readSignInCookie, writeSignInCookie } from '../../../rules/network/session-cookie.ts';
import { isHttps } from '../../keys/sessions.ts';
import type { Attempts } from '../credentials/attempts.ts';
import { isSetupToken, wrongSetupToken } from '../credentials/setup-token.ts';
import { admitIdentity, type Refusal } from '../oidc/admit.ts';
import type { Identity, Provider } from '../oidc/provider.ts';
import { reasonForUser, reasonOfProvider } from '../oidc/provider-failure.ts';
import { readState, type SignInState, STATE_SECONDS, writeState } from '../oidc/sign-in-state.ts';
import type { PeopleRuntime } from '../people-runtime.ts';
import { requireOwnPage, startUserSession } from '../sign-in.ts';
import { recordingFailure, recordSignIn } from '../sign-in-events.ts';
import { tokenSchema } from './fields.ts';

const TAG = 'Sign-in';
const CALLBACK = '/v1/sign-in/oidc/callback';
const RETRY_SECONDS = 5;

/** What the console is told behind `#sign-in=`. */
type Problem = Refusal | 'expired' | 'cancelled' | 'failed' | 'conflict';

/** How users sign in at the OpenID Connect provider. @param provider  null: there is none */
export function oidcRoutes(runtime: PeopleRuntime, attempts: Attempts, provider: Provider | null): Route[] {
  return [beginRoute(runtime, attempts, provider), callbackRoute(runtime, attempts, provider)];
}

function beginRoute(runtime: PeopleRuntime, attempts: Attempts, provider: Provider | null): Route {
  const { config, log, clock, secretsKeysBase64 } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/v1/sign-in/oidc',
    auth: 'none',
    summary: 'Begin to sign in by OpenID Connect',
    description: `The page goes to \`url\`. The provider sends the browser back to \`${CALLBACK}\`, which the provider must know as a redirect URI.
A cookie of 10 minutes holds what the sign-in began with.`,
    errors: ['unauthenticated', 'conflict', 'rate_limited'],
    tag: TAG,
    schema: {
      body: Type.Object({
        invitation: Type.Optional(tokenSchema),
        setup: Type.Optional(tokenSchema),
      }),
      answers: {
        200: Type.Object(
          { url: Type.String({ description: 'At the provider.' }) },
          component('SignInAtProvider', { url: 'https://id.example.com/auth?client_id=…' }),
        ),
      },
    },
    async handle({ body: { invitation, setup }, actor, header }) {
      requireOwnPage(header);
      if (!provider) throw new ApiError('conflict', 'OpenID Connect is off here: OIDC_ISSUER is not set.');
      const origin = config.publicUrl ?? header('origin');
      if (origin === null) {
        throw new ApiError('invalid_request', 'The header Origin is missing: sign in with a browser.', {
          param: 'Origin',
        });
      }
      const token = tokenOf(invitation, setup);
      await attempts.checkToken(actor.address, () => {
        if (setup !== undefined && !isSetupToken(setup, secretsKeysBase64)) throw wrongSetupToken('setup');
      });
      const begun = await provider.begin(`${origin}${CALLBACK}`, token).catch((error: unknown) => {
        log.warn({ err: error }, `a sign-in did not begin: ${reasonOfProvider(error, config.oidcIssuer!)}`);
        throw unavailable(reasonForUser(error), RETRY_SECONDS, { cause: error });
      });
      const value = writeState(begun.state, secretsKeysBase64, clock.now());
      const cookie = writeSignInCookie(value, { maxAgeSeconds: STATE_SECONDS, isHttps: isHttps(origin) });
      return { status: 200, body: { url: begun.url }, headers: { 'set-cookie': cookie } };
    },
  });
}

function tokenOf(invitation: string | undefined, setup: string | undefined): SignInState['token'] {
  if (setup !== undefined) return { kind: 'setup', value: setup };
  return invitation === undefined ? null : { kind: 'invitation', value: invitation };
}

function callbackRoute(runtime: PeopleRuntime, attempts: Attempts, provider: Provider | null): Route {
  const { db, callers, clock, secretsKeysBase64 } = runtime;
  return defineRoute({
    method: 'GET',
    path: CALLBACK,
    auth: 'none',
    summary: 'Where the OpenID provider sends the browser back',
    description: 'The answer leads to the console, with `#sign-in=…` where the sign-in failed.',
    errors: ['rate_limited'],
    tag: TAG,
    schema: {
      query: Type.Object(
        {
          code: Type.Optional(Type.String({ maxLength: 4_000 })),
          state: Type.Optional(Type.String({ maxLength: 1_000 })),
          error: Type.Optional(Type.String({ maxLength: 1_000 })),
        },
        // Providers send parameters of their own.
        { additionalProperties: true },
      ),
      answers: { 302: null },
    },
    async handle({ query, actor, header, note }) {
      const cookie = readSignInCookie([header('cookie') ?? '']);
      const began = readState(cookie?.value ?? null, secretsKeysBase64, clock.now());
      // By a cookie without the prefix, a sibling host could sign somebody in as whom it likes.
      if (began && isHttps(began.redirectUri) && !cookie!.isHttps) return problem('expired', null);
      if (!provider || !began) return problem('expired', null);
      if (query.error === 'access_denied') return problem('cancelled', began);
      // What has no cookie of this service is no attempt: any page can make a browser come here without one.
      const guesser = { address: actor.address, email: null, knownUserId: null };
      const confirm = () => attempts.guess(guesser, () => identify(runtime, provider, began, query));
      const identity = await recordingFailure(runtime, { actor, email: null }, confirm).catch(isNobody);
      if (!identity) return problem('failed', began);
      // The way back comes from another site, without Origin: the session is of the address where the sign-in began.
      const headerHere = (name: string) => (name === 'origin' ? new URL(began.redirectUri).origin : header(name));
      try {
        const entered = await db.transaction(async (tx) => {
          const membership = await admitIdentity(tx, actor, { identity, token: began.token });
          if (typeof membership === 'string') return membership;
          note({ user: membership.userId });
          return { membership, ...(await startUserSession(tx, membership, headerHere)) };
        });
        if (typeof entered === 'string') return problem(entered, began);
        callers.forgetAll();
        await recordSignIn(runtime, actor, entered.membership);
        return { status: 302, headers: { location: '/', 'set-cookie': entered.cookie } };
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) return problem(problemOf(error), began);
        throw error;
      }
    },
  });
}

/** @throws ApiError  401 where what came back is not what was begun; the log has the reason */
async function identify(
  { log }: PeopleRuntime,
  provider: Provider,
  began: SignInState,
  query: Record<string, unknown>,
): Promise<Identity> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  try {
    return await provider.finish(began, new URLSearchParams(given));
  } catch (cause) {
    log.warn({ err: cause }, 'a sign-in by the OpenID provider failed');
    throw new ApiError('unauthenticated', 'The provider has confirmed nobody.', { cause });
  }
}

/** Null for an attempt that failed. @throws all else */
function isNobody(error: unknown): null {
  if (error instanceof ApiError && error.type === 'unauthenticated') return null;
  throw error;
}

function problemOf({ type }: ApiError): Problem {
  return type === 'not_found' ? 'no_invitation' : 'conflict';
}

/** To the console, which says what happened. @param began  whose cookie ends */
function problem(what: Problem, began: SignInState | null) {
  const ended = began && writeSignInCookie('', { maxAgeSeconds: 0, isHttps: isHttps(began.redirectUri) });
  return { status: 302, headers: { location: `/#sign-in=${what}`, ...(ended && { 'set-cookie': ended }) } } as const;
}
