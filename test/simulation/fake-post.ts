import type { Poster, PosterOptions } from '../../src/deliveries/post.ts';

let open: ((options: PosterOptions) => Poster) | null = null;

/** Whoever opens a poster next gets this one. */
export function setPoster(opener: (options: PosterOptions) => Poster): void {
  open = opener;
}

/** Stands in for src/deliveries/post.ts. */
export function openPoster(options: PosterOptions): Poster {
  return open!(options);
}
