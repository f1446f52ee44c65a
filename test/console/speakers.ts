import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { toneFile } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';

const SEGMENTS = ['A', 'B', 'C', 'A'].map((speaker, at) => ({
  start: at,
  end: at + 1,
  text: `part ${at}`,
  confidence: 0.9,
  speaker,
}));

/** Gives a job these speakers, and keeps their merges in place of the service. Returns the changes that were sent. */
async function withSpeakers(page: Page, id: string) {
  const merges: Record<string, string> = {};
  const sent: object[] = [];
  await page.route(`**/v1/jobs/${id}`, async (route) => {
    const job = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...job, segments: SEGMENTS } });
  });
  await page.route(`**/v1/jobs/${id}/transcript*`, async (route) => {
    const request = route.request();
    if (request.method() === 'PATCH') {
      const body = request.postDataJSON() as { merged_speakers: Record<string, string | null> };
      sent.push(body);
      for (const [speaker, into] of Object.entries(body.merged_speakers)) {
        if (into === null) delete merges[speaker];
        else merges[speaker] = into;
      }
    }
    const segments = SEGMENTS.map((segment) => ({ ...segment, speaker: merges[segment.speaker] ?? segment.speaker }));
    const shown = { version: 'edited', text: '', language: 'en', translated_to: null, duration_seconds: 4 };
    await route.fulfill({ json: { ...shown, edited_at: null, merged_speakers: { ...merges }, segments } });
  });
  return sent;
}

export const flows: Flow[] = [
  {
    title: 'a speaker is merged into another one by the keyboard, and shown by itself again',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account();
      const { id } = await api.transcribe(toneFile('hello'));
      const sent = await withSpeakers(page, id);
      await open(key, `/jobs/${id}`);
      const legend = page.getByRole('list', { name: 'Speakers and channels' }).getByRole('listitem');
      const focused = () => page.evaluate(() => document.activeElement!.getAttribute('aria-label'));
      const untilFocused = (label: string) =>
        page.waitForFunction((name) => document.activeElement?.getAttribute('aria-label') === name, label);

      await page.getByRole('button', { name: 'Merge Speaker B' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Speaker A' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('The speakers are merged.').waitFor();
      await untilFocused('Merge Speaker A');
      const merged = await legend.allInnerTexts();
      const rows = await page.locator('.segment .voice').allInnerTexts();
      await checkView('speakers-merged');

      await page.getByRole('button', { name: 'Merge Speaker A' }).click();
      await page.getByRole('group', { name: 'Show by itself again' }).getByRole('menuitem').click();
      await page.getByRole('button', { name: 'Merge Speaker B' }).waitFor();
      await untilFocused('Merge Speaker A');

      assert.deepEqual(
        merged.map((text) => text.trim()),
        ['Speaker A 0:03', 'Speaker C 0:01'],
      );
      assert.deepEqual(rows, ['Speaker A', 'Speaker C', 'Speaker A']);
      assert.deepEqual(sent, [{ merged_speakers: { B: 'A' } }, { merged_speakers: { B: null } }]);
      assert.equal(await focused(), 'Merge Speaker A');
      await page.unrouteAll();
    },
  },
];
