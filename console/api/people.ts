import type { Invitation, Me, NewInvitation, OpenedInvitation, Page, Session, User, WaysToSignIn } from '#sdk/wire.ts';
import type { AccountSession } from '../session/session.ts';
import { api } from './client.ts';
import { ofCookie } from './sign-in.ts';

// Requests that only browsers send: the SDK has no methods for them.

export type Role = User['role'];

const read = async <Value>(path: string): Promise<Value> => JSON.parse((await api.request('GET', path)).text) as Value;

const change = async <Value>(method: 'POST' | 'PATCH', path: string, body: object): Promise<Value> =>
  JSON.parse((await api.request(method, path, { body })).text) as Value;

const pageAt = (path: string, cursor: string | null) => (cursor === null ? path : `${path}?cursor=${cursor}`);

export const people = {
  me: () => read<Me>('/v1/me'),
  changeMe: (fields: { name?: string; password?: string; current_password?: string }) =>
    change<Me>('PATCH', '/v1/me', fields),
  users: (cursor: string | null) => read<Page<User>>(pageAt('/v1/users', cursor)),
  changeRole: (id: string, role: Role) => change<User>('PATCH', `/v1/users/${id}`, { role }),
  remove: (id: string) => api.request('DELETE', `/v1/users/${id}`),
  invitations: (cursor: string | null) => read<Page<Invitation>>(pageAt('/v1/invitations', cursor)),
  invite: (fields: { role: Role; email?: string }) => change<NewInvitation>('POST', '/v1/invitations', fields),
  withdraw: (id: string) => api.request('DELETE', `/v1/invitations/${id}`),
};

export const signIn = {
  ways: () => read<WaysToSignIn>('/v1/sign-in'),
  openInvitation: (token: string) => change<OpenedInvitation>('POST', '/v1/invitations/open', { token }),
  setUp: (fields: object) => begin('/v1/setup', fields),
  accept: (fields: object) => begin('/v1/invitations/accept', fields),
  byPassword: (fields: object) => begin('/v1/sign-in', fields),
  /** Leaves the console for the provider. */
  async atProvider(fields: { setup?: string; invitation?: string }): Promise<void> {
    location.assign((await change<{ url: string }>('POST', '/v1/sign-in/oidc', fields)).url);
  },
  /** Accepts an invitation as the user who is signed in. */
  join: (token: string) => begin('/v1/me/invitations', { token }),
  /** Goes to another account of the user. */
  async switchTo(accountId: string): Promise<AccountSession> {
    return await ofCookie(await change<Session>('POST', '/v1/me/account', { account_id: accountId }));
  },
};

async function begin(path: string, fields: object): Promise<AccountSession> {
  return await ofCookie(await change<Session>('POST', path, fields));
}
