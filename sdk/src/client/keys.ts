import type { GetKeysQuery, Key, Model, ModelList, NewKey, PostKeysBody } from '../api.ts';
import type { Pages } from './http/pages.ts';
import type { RequestOptions } from './http/settings.ts';
import { route, type Transport } from './http/transport.ts';

/** The keys of the account. */
export class Keys {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** The answer has the `key`, which is shown only then. */
  async create(body: PostKeysBody = {}, options?: RequestOptions): Promise<NewKey> {
    return await this.#http.json('POST', '/v1/keys', { ...options, body });
  }

  list(filter?: GetKeysQuery, options?: RequestOptions): Pages<Key> {
    return this.#http.pages('/v1/keys', filter, options);
  }

  async delete(id: string, options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', route`/v1/keys/${id}`, options);
  }
}

/** The plans, each with its engine. */
export class Models {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  async list(options?: RequestOptions): Promise<Model[]> {
    return (await this.#http.json<ModelList>('GET', '/v1/models', options)).data;
  }

  async get(id: string, options?: RequestOptions): Promise<Model> {
    return await this.#http.json('GET', route`/v1/models/${id}`, options);
  }
}
