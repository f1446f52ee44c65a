import type { FrameLocator, Page } from 'playwright-core';

/** Signs in with an API key or the operator's token, behind the people's way. */
export async function signInWithKey(place: Page | FrameLocator, secret: string): Promise<void> {
  await place.getByText('Sign in with an API key').click();
  await place.getByLabel('API key or operator').fill(secret);
  await place.getByLabel('API key or operator').press('Enter');
}
