import type { FrameLocator, Page } from 'playwright-core';

/** Signs in with an API key or the operator's token, behind the people's way. */
export async function signInWithKey(place: Page | FrameLocator, secret: string): Promise<void> {
  await openKeyForm(place);
  await place.getByLabel('API key or operator').fill(secret);
  await place.getByLabel('API key or operator').press('Enter');
}

/** It is open already while the service has no users. */
export async function openKeyForm(place: Page | FrameLocator): Promise<void> {
  const form = place.locator('details.with-key');
  await form.waitFor();
  if ((await form.getAttribute('open')) === null) await form.getByText('Sign in with an API key').click();
}
