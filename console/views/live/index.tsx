import { useEffect, useRef, useState } from 'react';
import type { LiveParams } from '#sdk/client/index.ts';
import { useAccount, usePlanModel } from '../../api/queries.ts';
import { listOf, NameFields } from '../../parts/name-fields.tsx';
import { useStore } from '../../session/store.ts';
import { Button } from '../../ui/button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/state.tsx';
import { begin, live, stop } from './live-store.ts';
import { LiveText } from './live-text.tsx';
import { Recording } from './recording.tsx';

/** Transcribes the microphone while somebody speaks. */
export default function Live() {
  const form = useRef<HTMLFormElement>(null);
  const [params, setParams] = useState<LiveParams>({});
  const { phase, jobId, problem, warnings } = useStore(live);
  // The microphone is released when the view is left; what was said until then is transcribed.
  useEffect(() => () => void stop(), []);
  const isActive = phase === 'starting' || phase === 'recording' || phase === 'finishing';
  return (
    <Page title="Live" actions={<AsCode request={requestOf(params)} />}>
      <Section title="Microphone">
        <form ref={form} aria-label="Options" onChange={() => setParams(paramsOf(new FormData(form.current!)))}>
          <fieldset className="plain" disabled={isActive}>
            <Options plan={params.plan} />
          </fieldset>
        </form>
        {phase === 'idle' && (
          <p>
            <small>
              The browser asks for permission to use the microphone. The audio is sent to this service while you speak,
              and charged as usual.
            </small>
          </p>
        )}
        <div className="row">
          {isActive ? (
            <Button look="danger" disabled={phase !== 'recording'} onClick={() => void stop()}>
              ■ Stop
            </Button>
          ) : (
            <Button look="primary" onClick={() => void begin(params)}>
              ● Start
            </Button>
          )}
          {isActive && <Recording />}
        </div>
      </Section>
      {warnings.map((warning) => (
        <p key={warning} className="notice" role="status">
          {warning}
        </p>
      ))}
      {typeof problem === 'string' ? (
        <p className="notice problem" role="alert">
          {problem}
        </p>
      ) : (
        problem !== null && <Problem error={problem} />
      )}
      <LiveText />
      {phase === 'ended' && jobId !== null && (
        <p role="status">
          The transcript is in the job <a href={`#/jobs/${jobId}`}>{jobId}</a>.
        </p>
      )}
    </Page>
  );
}

const PLANS = [
  ['lite', 'lite'],
  ['pro', 'pro'],
] as const;

/** What the engine of the plan cannot do has no field. */
function Options({ plan }: { plan: string | undefined }) {
  const account = useAccount().data;
  const model = usePlanModel(plan);
  const can = (feature: 'keywords' | 'prompt') => model?.features.includes(feature) ?? true;
  const own = ['', `Account default${account ? ` (${account.plan})` : ''}`] as const;
  return (
    <>
      <div className="columns">
        <NameFields unnamed="the id of the job" />
      </div>
      <div className="columns">
        <SelectField label="Plan" name="plan" options={[own, ...(account?.plan === 'lite' ? [] : PLANS)]} />
        <TextField
          label="Language"
          name="language"
          maxLength={35}
          placeholder="en"
          hint="Empty: detected, if the model supports it."
        />
      </div>
      {(can('keywords') || can('prompt')) && (
        <details>
          <summary>Keywords and context</summary>
          <div className="columns">
            {can('keywords') && (
              <TextArea label="Keywords" name="keywords" rows={2} hint="Names and terms, one per line." />
            )}
            {can('prompt') && (
              <TextArea label="Context" name="prompt" rows={2} maxLength={1000} hint="What the talk is about." />
            )}
          </div>
        </details>
      )}
    </>
  );
}

function paramsOf(form: FormData): LiveParams {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const [keywords, tags] = [listOf(text('keywords')), listOf(text('tags'))];
  return {
    ...(text('title') && { title: text('title') }),
    ...(tags.length > 0 && { tags }),
    ...(text('plan') && { plan: text('plan') as 'lite' | 'pro' }),
    ...(text('language') && { language: text('language') }),
    ...(text('prompt') && { prompt: text('prompt') }),
    ...(keywords.length > 0 && { keywords }),
  };
}

function requestOf(params: LiveParams) {
  return { method: 'POST', path: '/v1/live', body: { sample_rate: 16_000, ...params }, sdk: 'client.live' } as const;
}
