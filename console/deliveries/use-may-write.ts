import { useMay } from '../api/queries.ts';

/** Whether the session may change webhooks and send events again; false until that is known. */
export function useMayWrite(): boolean {
  return useMay('webhooks:write');
}
