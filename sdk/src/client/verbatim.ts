import type {
  Balance,
  GetLedgerQuery,
  GetSearchQuery,
  GetUsageQuery,
  LedgerEntry,
  OwnAccount,
  SearchResult,
  Usage,
} from '../api.ts';
import type { AudioInput } from './audio/audio-input.ts';
import { Events } from './events.ts';
import { followAccount, type StreamFrame, type StreamOptions } from './follow-account.ts';
import type { CsvPages, Pages } from './http/pages.ts';
import { type RawAnswer, type RawCall, sendRaw } from './http/raw-request.ts';
import { type ClientOptions, type Credential, type RequestOptions, readVariable } from './http/settings.ts';
import { type Method, Transport } from './http/transport.ts';
import type { CompletedJob } from './job.ts';
import { Jobs, type WaitOptions } from './jobs.ts';
import { Keys, Models } from './keys.ts';
import type { LiveParams } from './live/live-messages.ts';
import type { LiveOptions, LiveSession } from './live/live-session.ts';
import type { TranscribeParams } from './transcribe-params.ts';
import { Deliveries, Webhooks } from './webhooks.ts';

export type VerbatimOptions = ClientOptions & {
  /** Default: VERBATIM_API_KEY. A function is called before each attempt. */
  apiKey?: Credential | undefined;
};

/** A client of the API of one account. */
export class Verbatim {
  readonly jobs: Jobs;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly events: Events;
  readonly keys: Keys;
  readonly models: Models;
  readonly baseUrl: string;
  readonly #http: Transport;
  readonly #options: VerbatimOptions;

  /** @throws TypeError  in a browser without `allowBrowser` */
  constructor(options: VerbatimOptions = {}) {
    const { apiKey = readVariable('VERBATIM_API_KEY'), ...rest } = options;
    this.#options = options;
    const authorize = (key: string) => ({ 'x-api-key': key });
    this.#http = new Transport({ ...rest, credential: apiKey, authorize });
    this.baseUrl = this.#http.baseUrl;
    this.jobs = new Jobs(this.#http);
    this.webhooks = new Webhooks(this.#http);
    this.deliveries = new Deliveries(this.#http);
    this.events = new Events(this.#http);
    this.keys = new Keys(this.#http);
    this.models = new Models(this.#http);
  }

  /** A client with other options; the rest is as in this one. */
  with(overrides: VerbatimOptions): Verbatim {
    return new Verbatim({ ...this.#options, ...overrides });
  }

  /**
   * The transcript of an audio. It creates a job and waits for its end, so that a proxy's time limit does not matter.
   * @throws JobFailedError  when the job ends without a transcript
   */
  async transcribe(audio: AudioInput, params?: TranscribeParams & WaitOptions): Promise<CompletedJob> {
    return await this.jobs.transcribe(audio, params);
  }

  /**
   * Begins a live session: write audio to it, and iterate over it for its text. It connects again after each cut, and
   * sends what the service does not have. The service ends a session that nobody continues within `resume_seconds`.
   */
  async live(params: LiveParams = {}, options: LiveOptions = {}): Promise<LiveSession> {
    // A chunk of its own: most programs have no live audio.
    const { beginLive } = await import('./live/begin.ts');
    return await beginLive(this.#http, params, options);
  }

  /** The account of the key: its plan, its limits, and what the key may do. */
  async account(options?: RequestOptions): Promise<OwnAccount> {
    return await this.#http.json('GET', '/v1/account', options);
  }

  async balance(options?: RequestOptions): Promise<Balance> {
    return await this.#http.json('GET', '/v1/balance', options);
  }

  /** Every change of the balance, newest first. */
  ledger(filter?: GetLedgerQuery, options?: RequestOptions): CsvPages<LedgerEntry> {
    return this.#http.csvPages('/v1/ledger', filter, options);
  }

  /** Jobs, minutes and credits over time. */
  async usage(query?: GetUsageQuery, options?: RequestOptions): Promise<Usage> {
    return await this.#http.json('GET', '/v1/usage', { ...options, query });
  }

  /** The same as CSV, with a line of names. */
  async usageCsv(query?: GetUsageQuery, options?: RequestOptions): Promise<string> {
    return await this.#http.text('GET', '/v1/usage', { ...options, query: { ...query, format: 'csv' } });
  }

  /** Jobs by the words of their transcripts. */
  search(query: GetSearchQuery, options?: RequestOptions): Pages<SearchResult> {
    return this.#http.pages('/v1/search', query, options);
  }

  /** The stream of the account: events, changes of jobs, delivery attempts. It connects again after each cut. */
  stream(options?: StreamOptions): AsyncIterable<StreamFrame> {
    return followAccount(this.#http, options);
  }

  /**
   * A request to any path, with the key and the retries of this client. The answer's text is as the service wrote it.
   */
  async request(method: Method, path: string, call?: RawCall): Promise<RawAnswer> {
    return await sendRaw(this.#http, method, path, call);
  }
}
