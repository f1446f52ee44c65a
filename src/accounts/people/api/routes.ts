import type { Route } from '../../../http/route.ts';
import { Attempts } from '../credentials/attempts.ts';
import { Provider } from '../oidc/provider.ts';
import type { PeopleRuntime } from '../people-runtime.ts';
import { acceptRoutes } from './accept-routes.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { joinRoute } from './join-route.ts';
import { meRoutes } from './me-routes.ts';
import { oidcRoutes } from './oidc-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { userRoutes } from './user-routes.ts';

/** The endpoints of users, invitations and sign-in. */
export function peopleRoutes(runtime: PeopleRuntime): Route[] {
  const { config } = runtime;
  const attempts = new Attempts();
  const provider = config.oidcIssuer ? new Provider(config.oidcIssuer, config) : null;
  void provider?.check(runtime.log);
  return [
    ...signInRoutes(runtime, attempts),
    ...meRoutes(runtime, attempts),
    ...userRoutes(runtime),
    ...invitationRoutes(runtime),
    ...acceptRoutes(runtime, attempts),
    joinRoute(runtime, attempts),
    ...oidcRoutes(runtime, attempts, provider),
  ];
}
