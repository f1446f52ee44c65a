// Made by `node scripts/docs.ts`; do not edit.

export const EVENT_TYPES = [
  'transcription.completed',
  'transcription.failed',
  'webhook.test',
];
