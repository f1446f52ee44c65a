import type { PostWebhooksIdRecoverBody, Recovered } from '#sdk/api.ts';

/**
 * The number of events of a whole time, recovered or, with `dry_run`, counted. One request looks at 100,000 events; as
 * long as an answer says where to go on, another one follows.
 */
export async function recoverAll(
  recover: (body: PostWebhooksIdRecoverBody) => Promise<Recovered>,
  body: PostWebhooksIdRecoverBody,
): Promise<number> {
  let events = 0;
  for (let since: string | undefined = body.since; since !== undefined; ) {
    const part: Recovered = await recover({ ...body, since });
    events += part.events;
    // The same time again would be asked for ever.
    since = part.next_since === since ? undefined : part.next_since;
  }
  return events;
}
