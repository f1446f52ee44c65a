import type { Page } from 'playwright-core';
import type { Seeded } from './seed.ts';

/** A page that pictures are made of. */
export type PicturedPage = {
  name: string;
  /** The address after the `#`; a path from `/` to the root for pages outside of the console. */
  place: (ids: Seeded['ids']) => string;
  as?: 'operator' | 'nobody';
  /** What to do before the picture. */
  prepare?: (page: Page) => Promise<unknown>;
};

const at = (place: string) => () => place;

export const PAGES: readonly PicturedPage[] = [
  { name: 'sign-in', place: at('/'), as: 'nobody' },
  { name: 'home', place: at('/') },
  { name: 'transcribe', place: at('/transcribe') },
  { name: 'live', place: at('/live') },
  { name: 'jobs', place: at('/jobs') },
  {
    name: 'job',
    place: ({ job }) => `/jobs/${job}?t=7.6`,
    prepare: (page) => page.locator('.segment').first().waitFor(),
  },
  { name: 'job-captions', place: ({ job }) => `/jobs/${job}?tab=captions` },
  { name: 'job-details', place: ({ job }) => `/jobs/${job}?tab=details` },
  {
    name: 'job-events',
    place: ({ job }) => `/jobs/${job}?tab=events`,
    prepare: (page) => page.getByText('hooks.harbour.example').first().waitFor(),
  },
  {
    name: 'job-share',
    place: ({ job }) => `/jobs/${job}`,
    async prepare(page) {
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByText('Not opened yet').waitFor();
    },
  },
  { name: 'shared', place: ({ share }) => share, as: 'nobody' },
  { name: 'job-open', place: ({ openJob }) => `/jobs/${openJob}` },
  { name: 'search', place: at('/search?q=pallets') },
  { name: 'webhooks', place: at('/webhooks') },
  { name: 'webhook', place: ({ webhook }) => `/webhooks/${webhook}` },
  { name: 'deliveries', place: at('/deliveries') },
  {
    name: 'attempt',
    place: ({ failedWebhook, failed }) => `/webhooks/${failedWebhook}/deliveries/${failed}`,
    prepare: (page) => page.getByRole('cell', { name: 'Answer body' }).waitFor(),
  },
  { name: 'events', place: at('/events') },
  { name: 'event', place: ({ event }) => `/events/${event}` },
  { name: 'debugger', place: at('/debugger') },
  { name: 'usage', place: at('/usage') },
  { name: 'keys', place: at('/keys') },
  { name: 'start', place: at('/start') },
  { name: 'operator', place: at('/operator'), as: 'operator' },
  { name: 'operator-accounts', place: at('/operator/accounts'), as: 'operator' },
  { name: 'operator-account', place: ({ account }) => `/operator/accounts/${account}`, as: 'operator' },
  { name: 'operator-jobs', place: at('/operator/jobs'), as: 'operator' },
  { name: 'operator-webhooks', place: at('/operator/webhooks'), as: 'operator' },
  { name: 'operator-models', place: at('/operator/models'), as: 'operator' },
  { name: 'operator-settings', place: at('/operator/settings'), as: 'operator' },
  { name: 'operator-audit', place: at('/operator/audit'), as: 'operator' },
];
