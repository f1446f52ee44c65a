import { type FormEvent, useRef, useState } from 'react';
import { CaptionChoice } from '../../parts/captions/caption-choice.tsx';
import { BROADCAST } from '../../parts/captions/caption-form.ts';
import { queue, start } from '../../parts/uploads/upload-queue.ts';
import { useStore } from '../../session/store.ts';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { AudioSources } from './audio-sources.tsx';
import { JobOptions } from './job-options.tsx';
import { formFieldsOf, type OptionValues, paramsOf } from './options.ts';
import { SendBar } from './send-bar.tsx';
import { UploadList } from './upload-list.tsx';

/** Creates jobs of files, recordings and URLs. */
export default function Transcribe() {
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState<OptionValues>({});
  const [captions, setCaptions] = useState(BROADCAST);
  const { uploads } = useStore(queue);
  const read = () =>
    setValues(Object.fromEntries([...new FormData(form.current!)].map(([name, value]) => [name, String(value)])));
  const params = tryParams(values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ('value' in params) start(params.value);
  };
  return (
    <Page title="Transcribe" actions={'value' in params && <AsCode request={requestOf(params.value)} />}>
      <AudioSources />
      <form ref={form} onChange={read} onSubmit={submit} aria-label="Options">
        <Section title="Options">
          <JobOptions values={values} />
        </Section>
        {uploads.length > 0 && <SendBar values={values} problem={'problem' in params ? params.problem : null} />}
      </form>
      <UploadList uploads={uploads} captions={captions} />
      {uploads.some(({ state }) => state === 'sent') && (
        <Section title="Captions to save">
          <CaptionChoice
            form={captions}
            onChange={(changed) => setCaptions({ ...captions, ...changed })}
            hasNames={values['diarize'] === 'on' || values['multichannel'] === 'on'}
          />
        </Section>
      )}
    </Page>
  );
}

type Params = ReturnType<typeof paramsOf>;

function tryParams(values: OptionValues): { value: Params } | { problem: string } {
  try {
    return { value: paramsOf(values) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function requestOf(params: Params) {
  const { metadataText, ...rest } = params;
  const shown = { ...rest, ...(metadataText && { metadata: JSON.parse(metadataText) as unknown }) };
  return {
    method: 'POST',
    path: '/v1/transcribe',
    form: [...formFieldsOf(params), ['file', '@call.mp3']] as [string, string][],
    sdk: 'client.transcribe',
    sdkArguments: `{ path: 'call.mp3' }${Object.keys(shown).length > 0 ? `, ${JSON.stringify(shown, null, 2)}` : ''}`,
  } as const;
}
