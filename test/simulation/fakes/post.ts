import type { Poster, PosterOptions } from '../../../src/webhooks/http-client/post.ts';

let open: ((options: PosterOptions) => Poster) | null = null;

/** Whoever opens a poster next gets this one. */
export function setPoster(opener: (options: PosterOptions) => Poster): void {
  open = opener;
}

/** Stands in for src/webhooks/http-client/post.ts. */
export function openPoster(options: PosterOptions): Poster {
  return open!(options);
}
