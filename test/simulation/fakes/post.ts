import type { Poster, PosterOptions } from '../../../src/webhooks/http-client/post.ts';

let open: ((options: PosterOptions) => Poster) | null = null;

/** Sets the poster that the next openPoster returns. */
export function setPoster(opener: (options: PosterOptions) => Poster): void {
  open = opener;
}

/** Replaces src/webhooks/http-client/post.ts. */
export function openPoster(options: PosterOptions): Poster {
  return open!(options);
}
