import type { Route } from '../../route.ts';
import { curlSample } from './curl.ts';
import { pythonSample } from './python.ts';
import { ADMIN_SAMPLES, SAMPLES } from './table.ts';
import { typescriptSample } from './typescript.ts';
import type { SampledOperation } from './wire.ts';

/** Examples of the operation for `x-codeSamples`, each a whole program. */
export function samplesOf(id: string, route: Route): { lang: string; label: string; source: string }[] {
  const operation: SampledOperation = {
    id,
    method: route.method,
    path: route.path,
    auth: route.auth,
    isUpload: route.upload === true,
    isStream: Object.values(route.schema.answers).some(
      (answer) =>
        answer !== null && 'media' in answer && Object.keys(answer.media as object)[0] === 'text/event-stream',
    ),
    sample: SAMPLES[id] ?? ADMIN_SAMPLES[id] ?? null,
  };
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(operation) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptSample(operation) },
    { lang: 'Python', label: 'Python', source: pythonSample(operation) },
  ];
}
