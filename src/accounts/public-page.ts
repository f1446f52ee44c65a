import type { Config } from '../config/settings.ts';

/**
 * The address of a page of the console: whole where PUBLIC_URL names the address of the service, which may differ from
 * the one that the operator's requests go to; else relative to that of the service.
 * @param page  such as `#token=…`
 */
export function publicPage({ publicUrl }: Pick<Config, 'publicUrl'>, page: string): string {
  return `${publicUrl?.replace(/\/+$/, '') ?? ''}/${page}`;
}
