import type { Page } from 'playwright-core';

const PAGES = 10;

/** A completed job of a list. */
export function madeJob(index: number) {
  const time = new Date(Date.now() - index * 1_000).toISOString();
  const audio = { filename: `${index}.wav`, format: 'wav', duration_seconds: 60, size_bytes: 1_000, source: null };
  return {
    id: `job_${index}`,
    status: 'completed',
    plan: 'pro',
    model: 'tone',
    language: 'en',
    translated_to: null,
    audio: { ...audio, channels: 1, tracks: [] },
    metadata: null,
    options: {},
    text: 'one two three',
    speakers: null,
    warnings: [],
    error: null,
    cost: 1,
    progress: 1,
    expires_at: null,
    created_at: time,
    started_at: time,
    completed_at: time,
  };
}

/** The list of an account that has so many jobs, with all rows loaded. */
export async function openAll(page: Page, jobs: number, open: () => Promise<void>): Promise<void> {
  const pageRows = jobs / PAGES;
  await page.route('/v1/jobs?*', async (route) => {
    const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const data = Array.from({ length: pageRows }, (_, index) => madeJob(cursor + index));
    const next = cursor + pageRows;
    const has_more = next < jobs;
    await route.fulfill({ json: { data, has_more, next_cursor: has_more ? String(next) : null } });
  });
  await open();
  for (let rows = pageRows; rows < jobs; rows += pageRows) {
    await page.getByRole('button', { name: 'Older' }).click();
    await page.waitForFunction(
      (count) => document.querySelector('table')?.ariaRowCount === String(count),
      rows + pageRows + 1,
    );
  }
  await page.getByRole('button', { name: 'Older' }).waitFor({ state: 'detached' });
}
