import type {
  Account,
  AccountErasure,
  AccountWebhook,
  AuditEntry,
  CatalogueModelList,
  GetAdminAccountsIdKeysQuery,
  GetAdminAccountsIdLedgerQuery,
  GetAdminAccountsQuery,
  GetAdminAuditQuery,
  GetAdminJobsQuery,
  GetAdminUsageQuery,
  GetAdminWebhooksQuery,
  JobSummary,
  JobsRetried,
  Key,
  LedgerEntry,
  ModelPull,
  NewInvitation,
  NewKey,
  Node,
  NodeList,
  Overview,
  PatchAdminAccountsIdBody,
  PortalLink,
  PostAdminAccountsBody,
  PostAdminAccountsIdCreditsBody,
  PostAdminAccountsIdInvitationsBody,
  PostAdminAccountsIdKeysBody,
  PostAdminAccountsIdPortalLinksBody,
  PostAdminJobsRetryBody,
  PostAdminSecretsRotateBody,
  PostAdminWebhooksRecoverBody,
  SecretsRotation,
  Setting,
  SettingList,
  Usage,
  WebhooksRecovered,
} from '../api.ts';
import type { CsvPages, Pages } from './http/pages.ts';
import { type RawAnswer, type RawCall, sendRaw } from './http/raw-request.ts';
import { type ClientOptions, type Credential, type RequestOptions, readVariable } from './http/settings.ts';
import { type Method, route, Transport } from './http/transport.ts';

export type VerbatimAdminOptions = ClientOptions & {
  /** Default: ADMIN_TOKEN. A function is called before each attempt. */
  adminToken?: Credential | undefined;
};

/** A client of the operator's API. */
export class VerbatimAdmin {
  readonly accounts: Accounts;
  readonly baseUrl: string;
  readonly #http: Transport;

  /** @throws TypeError  in a browser without `allowBrowser` */
  constructor(options: VerbatimAdminOptions = {}) {
    const { adminToken = readVariable('ADMIN_TOKEN'), ...rest } = options;
    const authorize = (token: string) => ({ authorization: `Bearer ${token}` });
    this.#http = new Transport({ ...rest, credential: adminToken, authorize });
    this.baseUrl = this.#http.baseUrl;
    this.accounts = new Accounts(this.#http);
  }

  /** Deletes a key of any account. */
  async deleteKey(id: string, options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', route`/admin/v1/keys/${id}`, options);
  }

  /** Of one account. */
  async usage(query: GetAdminUsageQuery, options?: RequestOptions): Promise<Usage> {
    return await this.#http.json('GET', '/admin/v1/usage', { ...options, query });
  }

  /** The same as CSV, with a line of names. */
  async usageCsv(query: GetAdminUsageQuery, options?: RequestOptions): Promise<string> {
    return await this.#http.text('GET', '/admin/v1/usage', { ...options, query: { ...query, format: 'csv' } });
  }

  /** What runs and waits. */
  async overview(options?: RequestOptions): Promise<Overview> {
    return await this.#http.json('GET', '/admin/v1/overview', options);
  }

  async nodes(options?: RequestOptions): Promise<Node[]> {
    return (await this.#http.json<NodeList>('GET', '/admin/v1/nodes', options)).data;
  }

  /** Jobs of all accounts, without what they contain. */
  jobs(filter?: GetAdminJobsQuery, options?: RequestOptions): Pages<JobSummary> {
    return this.#http.pages('/admin/v1/jobs', filter, options);
  }

  /** Webhooks of all accounts. */
  webhooks(filter?: GetAdminWebhooksQuery, options?: RequestOptions): Pages<AccountWebhook> {
    return this.#http.pages('/admin/v1/webhooks', filter, options);
  }

  /** Sends the events again that webhooks of all accounts have missed since a time. */
  async recoverWebhooks(body: PostAdminWebhooksRecoverBody, options?: RequestOptions): Promise<WebhooksRecovered> {
    return await this.#http.json('POST', '/admin/v1/webhooks/recover', { ...options, body });
  }

  /**
   * Transcribes the stored audio of jobs of all accounts again that failed, or that completed with a warning: at most
   * 500 a call, from `next_since` on.
   */
  async retryJobs(body: PostAdminJobsRetryBody, options?: RequestOptions): Promise<JobsRetried> {
    return await this.#http.json('POST', '/admin/v1/jobs/retry', { ...options, body });
  }

  async models(options?: RequestOptions): Promise<CatalogueModelList> {
    return await this.#http.json('GET', '/admin/v1/models', options);
  }

  /** Begins to pull a model onto the node that answers; `models` has the progress. */
  async pullModel(name: string, options?: RequestOptions): Promise<ModelPull> {
    return await this.#http.json('POST', route`/admin/v1/models/${name}/pull`, options);
  }

  /** Ends the pull, and removes what was downloaded. */
  async cancelPull(name: string, options?: RequestOptions): Promise<ModelPull> {
    return await this.#http.json('DELETE', route`/admin/v1/models/${name}/pull`, options);
  }

  async settings(options?: RequestOptions): Promise<Setting[]> {
    return (await this.#http.json<SettingList>('GET', '/admin/v1/settings', options)).data;
  }

  /** Who changed what, newest first. */
  audit(filter?: GetAdminAuditQuery, options?: RequestOptions): Pages<AuditEntry> {
    return this.#http.pages('/admin/v1/audit', filter, options);
  }

  /** Encrypts webhook secrets with the first key of SECRETS_KEY, a part of them at a time. */
  async rotateSecrets(body: PostAdminSecretsRotateBody = {}, options?: RequestOptions): Promise<SecretsRotation> {
    return await this.#http.json('POST', '/admin/v1/secrets/rotate', { ...options, body });
  }

  /** A request to any path, with the token and the retries of this client. */
  async request(method: Method, path: string, call?: RawCall): Promise<RawAnswer> {
    return await sendRaw(this.#http, method, path, call);
  }
}

/** The accounts of the service. */
class Accounts {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  async create(body: PostAdminAccountsBody, options?: RequestOptions): Promise<Account> {
    return await this.#http.json('POST', '/admin/v1/accounts', { ...options, body });
  }

  list(filter?: GetAdminAccountsQuery, options?: RequestOptions): Pages<Account> {
    return this.#http.pages('/admin/v1/accounts', filter, options);
  }

  async get(id: string, options?: RequestOptions): Promise<Account> {
    return await this.#http.json('GET', route`/admin/v1/accounts/${id}`, options);
  }

  async update(id: string, body: PatchAdminAccountsIdBody, options?: RequestOptions): Promise<Account> {
    return await this.#http.json('PATCH', route`/admin/v1/accounts/${id}`, { ...options, body });
  }

  /** Deletes an account, and erases all that belongs to it; that cannot be undone. */
  async delete(id: string, options?: RequestOptions): Promise<AccountErasure> {
    return await this.#http.json('DELETE', route`/admin/v1/accounts/${id}`, options);
  }

  /** Refuses its keys, and lets its deliveries wait. */
  async suspend(id: string, options?: RequestOptions): Promise<Account> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/suspend`, options);
  }

  /** Ends the suspension; what waited is sent. */
  async resume(id: string, options?: RequestOptions): Promise<Account> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/resume`, options);
  }

  /** Adds credits, or takes them away where `amount` is below zero. */
  async addCredits(id: string, body: PostAdminAccountsIdCreditsBody, options?: RequestOptions): Promise<LedgerEntry> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/credits`, { ...options, body });
  }

  ledger(id: string, filter?: GetAdminAccountsIdLedgerQuery, options?: RequestOptions): CsvPages<LedgerEntry> {
    return this.#http.csvPages(route`/admin/v1/accounts/${id}/ledger`, filter, options);
  }

  keys(id: string, filter?: GetAdminAccountsIdKeysQuery, options?: RequestOptions): Pages<Key> {
    return this.#http.pages(route`/admin/v1/accounts/${id}/keys`, filter, options);
  }

  /** The answer has the `key`, which is shown only then. */
  async createKey(id: string, body: PostAdminAccountsIdKeysBody = {}, options?: RequestOptions): Promise<NewKey> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/keys`, { ...options, body });
  }

  /** A link by which somebody joins the account. Its `url` is relative to the address of the service. */
  async invite(id: string, body: PostAdminAccountsIdInvitationsBody, options?: RequestOptions): Promise<NewInvitation> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/invitations`, { ...options, body });
  }

  /** A link that opens the console for this account. Its `url` is relative to the address of the service. */
  async portalLink(
    id: string,
    body: PostAdminAccountsIdPortalLinksBody,
    options?: RequestOptions,
  ): Promise<PortalLink> {
    return await this.#http.json('POST', route`/admin/v1/accounts/${id}/portal-links`, { ...options, body });
  }
}
