import { useAccount, usePlanModel } from '../../api/queries.ts';
import { NameFields } from '../../parts/name-fields.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { checkMetadata, type OptionValues } from './options.ts';

const LIFETIMES = [
  ['', 'Service default'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;

/** The fields of POST /v1/transcribe. What the engine of the plan cannot do has no field. */
export function JobOptions({ values }: { values: OptionValues }) {
  const account = useAccount().data;
  const model = usePlanModel(values['plan']);
  const can: Can = (feature) => model === undefined || model.features.some((name) => name === feature);
  const languages = model?.languages;
  return (
    <>
      <div className="columns">
        <NameFields unnamed="the name of the file" />
      </div>
      <div className="columns">
        {account?.plan !== 'lite' && (
          <SelectField
            label="Plan"
            name="plan"
            options={[['', `Account default${account ? ` (${account.plan})` : ''}`], ...PLANS]}
          />
        )}
        <TextField
          label="Language"
          name="language"
          maxLength={35}
          placeholder="en"
          hint={languages ? `Empty: detected. ${shortList(languages)}` : 'Empty: detected, if the model supports it.'}
        />
        <SelectField label="Keep the job for" name="delete_after_seconds" options={LIFETIMES} />
      </div>
      <FeatureFields can={can} />
      {values['diarize'] === 'on' && can('diarize') && (
        <div className="columns">
          <TextField label="Exact number of speakers" name="speakers" type="number" min={1} max={32} />
          <TextField label="At least" name="min_speakers" type="number" min={1} max={32} />
          <TextField label="At most" name="max_speakers" type="number" min={1} max={32} />
        </div>
      )}
      <MoreFields can={can} metadata={checkMetadata(values['metadata'] ?? '')} />
    </>
  );
}

/** Whether the engine of the plan has the feature; true until that is known. */
type Can = (feature: string) => boolean;

function FeatureFields({ can }: { can: Can }) {
  return (
    <div className="columns">
      <CheckField label="Times of words" name="words" hint="For the player and exact captions." />
      {can('diarize') && <CheckField label="Speakers" name="diarize" hint="Labels who speaks." />}
      <CheckField
        label="Separate channels"
        name="multichannel"
        hint="For calls with one speaker per channel. Each distinct channel is charged."
      />
      {can('translate') && (
        <CheckField label="Translate into English" name="translate" hint="The text is in English only." />
      )}
    </div>
  );
}

function MoreFields({ can, metadata }: { can: Can; metadata: ReturnType<typeof checkMetadata> }) {
  return (
    <details>
      <summary>Words, track, metadata</summary>
      <div className="columns">
        {can('keywords') && (
          <TextArea label="Keywords" name="keywords" rows={3} hint="Names and terms, one per line." />
        )}
        {can('prompt') && (
          <TextArea label="Context" name="prompt" rows={3} maxLength={1000} hint="What the audio is about." />
        )}
        <TextArea
          label="Replacements"
          name="replacements"
          rows={3}
          placeholder="cooper netties = Kubernetes"
          hint="Replaces whole words, in any case. One pair per line."
        />
      </div>
      <TextField
        label="Audio track"
        name="audio_track"
        maxLength={35}
        hint="For files with several tracks: the index from 0, or a language such as de. Empty: the first track."
      />
      <TextArea
        label="Metadata"
        name="metadata"
        rows={3}
        placeholder='{"order": 42}'
        hint={`JSON, ${metadata.bytes} of 4096 bytes. The job and its events return it unchanged.`}
        error={metadata.problem}
      />
    </details>
  );
}

const PLANS = [
  ['lite', 'lite'],
  ['pro', 'pro'],
] as const;

function shortList(languages: readonly string[]): string {
  return languages.length <= 6
    ? `The model knows ${languages.join(', ')}.`
    : `The model knows ${languages.length} languages.`;
}
