import { UsageError } from '../../exit.ts';

/** Where events are forwarded to, by their type. */
export class Targets {
  readonly #routes: ReadonlyMap<string, URL>;
  readonly #others: URL | null;

  constructor(routes: ReadonlyMap<string, URL>, others: URL | null) {
    this.#routes = routes;
    this.#others = others;
  }

  /** Null: events of this type are shown only. */
  urlFor(type: string): URL | null {
    return this.#routes.get(type) ?? this.#others;
  }

  /** In words: the target, and those of single types. Empty where events are shown only. */
  describe(): string {
    const routes = [...this.#routes].map(([type, url]) => `${url.href} (${type})`);
    return [...(this.#others ? [this.#others.href] : []), ...routes].join(', ');
  }

  /** Each host and port once. */
  hosts(): URL[] {
    const all = [...this.#routes.values(), ...(this.#others ? [this.#others] : [])];
    return [...new Map(all.map((url) => [url.host, url])).values()];
  }
}

/**
 * The targets that the options name.
 * @param routes  `type=target`; a type may come once
 * @throws UsageError
 */
export function readTargets(forwardTo: string | undefined, routes: readonly string[]): Targets {
  const byType = new Map<string, URL>();
  for (const route of routes) {
    const [, type, target] = /^([a-z_]+\.[a-z_]+)=(.+)$/.exec(route) ?? [];
    if (type === undefined) {
      throw new UsageError(`--route ${route}: write TYPE=TARGET, such as transcription.failed=localhost:3000/alerts.`);
    }
    if (byType.has(type)) throw new UsageError(`--route ${type} is given twice.`);
    byType.set(type, readTarget(target!));
  }
  return new Targets(byType, forwardTo === undefined ? null : readTarget(forwardTo));
}

/**
 * A target: a URL, `localhost:3000/hooks`, or the port alone.
 * @throws UsageError
 */
export function readTarget(text: string): URL {
  const spelled = /^\d+(\/.*)?$/.test(text) ? `http://localhost:${text}` : text;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(spelled) ? spelled : `http://${spelled}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(`"${text}" is not a target: write a URL, or HOST:PORT/PATH such as localhost:3000/hooks.`);
  }
  return url;
}
