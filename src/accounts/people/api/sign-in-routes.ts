import { ApiError } from '../../../http/api-error.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, nullable, type Static, Type } from '../../../http/schema.ts';
import { normalEmail } from '../../../rules/accounts/email.ts';
import { sessionSchema } from '../../api/session-view.ts';
import type { Attempts } from '../credentials/attempts.ts';
import { hashPassword } from '../credentials/password.ts';
import { isSetupToken, wrongSetupToken } from '../credentials/setup-token.ts';
import { findUserByPassword } from '../find-by-password.ts';
import { makeFirstUser } from '../join.ts';
import { findKnownUserId } from '../known-browser.ts';
import { hasPasswords, type PeopleRuntime, requirePasswords } from '../people-runtime.ts';
import { firstMembership, holdChecked, requireOwnPage, wrongPassword } from '../sign-in.ts';
import { recordingFailure } from '../sign-in-events.ts';
import { hasUsers } from '../user-store.ts';
import { answerWithSession } from './answer-with-session.ts';
import {
  emailSchema,
  nameSchema,
  newPasswordSchema,
  passwordSchema,
  requireReadableEmail,
  tokenSchema,
} from './fields.ts';

const TAG = 'Sign-in';

const waysSchema = Type.Object(
  {
    setup: Type.Boolean({ description: 'There is no user yet: `POST /v1/setup` makes the first one.' }),
    password: Type.Boolean({ description: 'Users sign in with an email and a password.' }),
    oidc: nullable(
      Type.Object({ name: Type.String({ description: 'How the provider is called.' }) }),
      'Users sign in by OpenID Connect; null: they do not.',
    ),
  },
  component('WaysToSignIn', { setup: false, password: true, oidc: null }),
);

/** How the first user is made, and how users sign in with a password. */
export function signInRoutes(runtime: PeopleRuntime, attempts: Attempts): Route[] {
  return [waysRoute(runtime), setupRoute(runtime, attempts), passwordRoute(runtime, attempts)];
}

function waysRoute({ db, config }: PeopleRuntime): Route {
  // One operator always remains: what is set up remains so.
  let isSetUp = false;
  return describeWays(async () => {
    isSetUp ||= await hasUsers(db);
    const { oidcIssuer, oidcName } = config;
    const oidc = oidcIssuer === null ? null : { name: oidcName ?? new URL(oidcIssuer).host };
    return { setup: !isSetUp, password: hasPasswords(config), oidc };
  });
}

/** For the console at the listener of operators, where users do not sign in: it takes the operator's token. */
export function noWaysRoute(): Route {
  return describeWays(async () => ({ setup: false, password: false, oidc: null }));
}

function describeWays(find: () => Promise<Static<typeof waysSchema>>): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/sign-in',
    auth: 'none',
    summary: 'How users sign in to this service',
    tag: TAG,
    schema: { answers: { 200: waysSchema } },
    handle: async () => ({ status: 200, body: await find() }),
  });
}

function setupRoute(runtime: PeopleRuntime, attempts: Attempts): Route {
  const { db, config, secretsKeysBase64 } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/v1/setup',
    auth: 'none',
    summary: 'Make the first user: the owner of a new account, who is an operator too',
    description:
      'The service shows the token when it starts, as long as it has no users. The answer begins a session as `POST /v1/sign-in` does.',
    errors: ['unauthenticated', 'conflict', 'rate_limited'],
    tag: TAG,
    schema: {
      body: Type.Object({
        token: tokenSchema,
        name: nameSchema,
        email: emailSchema,
        password: newPasswordSchema,
        account_name: Type.Optional(nameSchema),
      }),
      answers: { 201: sessionSchema },
    },
    async handle({ body, actor, header, note }) {
      requireOwnPage(header);
      requirePasswords(config);
      await attempts.checkToken(actor.address, () => {
        if (!isSetupToken(body.token, secretsKeysBase64)) throw wrongSetupToken('token');
      });
      // Before the hash is made: once there are users, the token is good for nothing.
      if (await hasUsers(db)) throw new ApiError('conflict', 'The service is set up already; sign in.');
      const { name, email, account_name: accountName = name } = body;
      requireReadableEmail(email);
      const passwordHash = await hashPassword({ password: body.password, address: actor.address });
      const person = { email: normalEmail(email), proof: 'service', name, passwordHash, oidc: null } as const;
      return await answerWithSession(runtime, { actor, header, note }, (tx) =>
        makeFirstUser(tx, actor, { person, accountName }),
      );
    },
  });
}

function passwordRoute(runtime: PeopleRuntime, attempts: Attempts): Route {
  const { db, config } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/v1/sign-in',
    auth: 'none',
    summary: 'Sign in with an email and a password: begin a session of 7 days, which the cookie of this answer names',
    description:
      'The session is in the account that the user used last. Its cookie works as that of `POST /v1/session`.',
    errors: ['unauthenticated', 'conflict', 'rate_limited'],
    tag: TAG,
    schema: {
      body: Type.Object({ email: emailSchema, password: passwordSchema }),
      answers: { 201: sessionSchema },
    },
    async handle({ body, actor, header, note }) {
      requireOwnPage(header);
      requirePasswords(config);
      const { address } = actor;
      const knownUserId = await findKnownUserId(runtime, db, { email: body.email, header });
      const guesser = { address, email: normalEmail(body.email), knownUserId };
      const check = async (onlyUserId: string | null) => {
        const { user } = await findUserByPassword(db, body.email, { password: body.password, address });
        if (!user || (onlyUserId !== null && user.id !== onlyUserId)) throw wrongPassword();
        return user;
      };
      const attempt = { actor, email: body.email };
      const user = await recordingFailure(runtime, attempt, () => attempts.guess(guesser, check));
      return await answerWithSession(runtime, { actor, header, note }, async (tx) => {
        await holdChecked(tx, user);
        const membership = await firstMembership(tx, user.id);
        if (membership) return membership;
        throw new ApiError('unauthenticated', 'You belong to no account any more; ask for an invitation.');
      });
    },
  });
}
