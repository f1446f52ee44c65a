import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useAccount } from '../../api/queries.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { checkMetadata, type OptionValues } from './options.ts';

const LIFETIMES = [
  ['', 'as the service keeps them'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', '7 days'],
] as const;

/** The fields of POST /v1/transcribe. What the engine of the plan cannot do is said beside its field. */
export function JobOptions({ values }: { values: OptionValues }) {
  const account = useAccount().data;
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => api.models.list({ signal }),
    staleTime: 60_000,
  });
  const plan = values['plan'] || account?.plan;
  const model = models.data?.find(({ id }) => id === plan);
  const lacks = (feature: string) => model !== undefined && !model.features.some((name) => name === feature);
  const without: Without = (feature, effect) => (lacks(feature) ? ` The engine of this plan ${effect}.` : '');
  const metadata = checkMetadata(values['metadata'] ?? '');
  const languages = model?.languages;
  return (
    <>
      <div className="columns">
        <SelectField
          label="Plan"
          name="plan"
          options={[
            ['', `the account's${account ? ` (${account.plan})` : ''}`],
            ...(account?.plan === 'lite' ? [] : PLANS),
          ]}
        />
        <TextField
          label="Language"
          name="language"
          maxLength={35}
          placeholder="en"
          hint={languages ? `Empty: detected. ${shortList(languages)}` : 'Empty: detected where the model can.'}
        />
        <SelectField label="Keep the job for" name="delete_after_seconds" options={LIFETIMES} />
      </div>
      {model?.upgrade_command && (
        <p className="hint">
          The engine of this plan, {model.engine}, mishears many words. The operator gets a better one by{' '}
          <code>{model.upgrade_command}</code> and a restart.
        </p>
      )}
      <FeatureFields without={without} isRefused={(feature, name) => lacks(feature) && values[name] !== 'on'} />
      {values['diarize'] === 'on' && (
        <div className="columns">
          <TextField label="Exact number of speakers" name="speakers" type="number" min={1} max={32} />
          <TextField label="At least" name="min_speakers" type="number" min={1} max={32} />
          <TextField label="At most" name="max_speakers" type="number" min={1} max={32} />
        </div>
      )}
      <WordFields without={without} metadata={metadata} />
    </>
  );
}

/** What to say beside a feature that the engine of the plan does not have; empty where it has it. */
type Without = (feature: string, effect: string) => string;

/** @param isRefused  one that was ticked for the engine of another plan can still be unticked */
function FeatureFields({
  without,
  isRefused,
}: {
  without: Without;
  isRefused: (feature: string, name: string) => boolean;
}) {
  return (
    <div className="columns">
      <CheckField label="Times of words" name="words" hint="For the player, and for exact captions." />
      <CheckField
        label="Speakers"
        name="diarize"
        disabled={isRefused('diarize', 'diarize')}
        hint={`Labels who says what.${without('diarize', 'cannot tell speakers apart')}`}
      />
      <CheckField
        label="Channels on their own"
        name="multichannel"
        hint="For calls with one speaker on each channel. Each distinct one is charged."
      />
      <CheckField
        label="Translate into English"
        name="translate"
        disabled={isRefused('translate', 'translate')}
        hint={`In place of the spoken language.${without('translate', 'cannot translate')}`}
      />
    </div>
  );
}

function WordFields({ without, metadata }: { without: Without; metadata: ReturnType<typeof checkMetadata> }) {
  return (
    <details>
      <summary>Words, track, metadata</summary>
      <div className="columns">
        <TextArea
          label="Keywords"
          name="keywords"
          rows={3}
          hint={`Words to know, one a line.${without('keywords', 'ignores them')}`}
        />
        <TextArea
          label="Context"
          name="prompt"
          rows={3}
          maxLength={1000}
          hint={`What the audio is about.${without('prompt', 'ignores it')}`}
        />
        <TextArea
          label="Replacements"
          name="replacements"
          rows={3}
          placeholder="cooper netties = Kubernetes"
          hint="Whole words of the transcript, in any case; one pair a line."
        />
      </div>
      <TextField
        label="Audio track"
        name="audio_track"
        maxLength={35}
        hint="Of a file with several: its index from 0, or its language such as de. Empty: the first."
      />
      <TextArea
        label="Metadata"
        name="metadata"
        rows={3}
        placeholder='{"order": 42}'
        hint={`JSON, ${metadata.bytes} of 4096 bytes. It comes back unchanged, in the job and its events.`}
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
  return languages.length <= 6 ? `Known: ${languages.join(', ')}.` : `${languages.length} languages are known.`;
}

/** How the captions of the finished jobs on this page are shaped when they are saved. */
export function CaptionOptions({
  values,
  onChange,
}: {
  values: OptionValues;
  onChange: (changed: OptionValues) => void;
}) {
  const field = (name: string, label: string, min: number, max: number, placeholder: string, step = 1) => (
    <TextField
      {...{ label, min, max, step, placeholder }}
      type="number"
      value={values[name] ?? ''}
      onChange={(event) => onChange({ [name]: event.target.value })}
    />
  );
  return (
    <>
      <p>
        <small>For SRT and WebVTT. An empty field has the value of broadcasters, which it shows.</small>
      </p>
      <div className="columns">
        {field('max_line_length', 'Characters of a line', 10, 120, '42')}
        {field('max_lines', 'Lines', 1, 4, '2')}
        {field('max_duration', 'Longest, s', 1, 30, '7', 0.1)}
        {field('min_duration', 'Shortest, s', 0, 5, '0.833', 0.001)}
        {field('max_chars_per_second', 'Characters per second', 5, 40, '20')}
        {field('min_gap', 'Gap, s', 0, 1, '0.083', 0.001)}
      </div>
      <CheckField
        label="Names of speakers"
        checked={values['caption_speakers'] === 'on'}
        onChange={(event) => onChange({ caption_speakers: event.target.checked ? 'on' : '' })}
      />
    </>
  );
}
