import type { Job } from '#sdk/wire.ts';
import { byteSize, clockTime } from '../../../text/format.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Id } from '../../../ui/copy.tsx';
import { Credits } from '../../../ui/credits.tsx';
import { Facts, Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';

type Details = Omit<Job, 'segments' | 'text'>;

/** What was asked for, what it cost, and when it happened. */
export function DetailsTab({ job }: { job: Details }) {
  const { audio, options } = job;
  return (
    <>
      <Section title="Job">
        <Facts
          rows={[
            ['Id', <Id key="id" value={job.id} />],
            ['State', <Badge key="state">{job.status}</Badge>],
            ['Plan', job.plan],
            ['Model', job.model],
            ['Language', job.language],
            ['Translated to', job.translated_to],
            [
              'Cost',
              job.cost !== null && (
                <span key="cost">
                  <Credits of={job.cost} /> credits
                </span>
              ),
            ],
            ['Speed', speedOf(job)],
            ['Created', <Time key="created" at={job.created_at} exact />],
            ['Started', job.started_at && <Time key="started" at={job.started_at} exact />],
            ['Ended', job.completed_at && <Time key="ended" at={job.completed_at} exact />],
            ['Erased', job.expires_at && <Time key="erased" at={job.expires_at} exact />],
          ]}
        />
      </Section>
      <Section title="Audio">
        <Facts
          rows={[
            ['File', audio.filename],
            ['From', audio.source],
            ['Format', audio.format],
            ['Length', audio.duration_seconds !== null && clockTime(audio.duration_seconds, 1)],
            ['Size', audio.size_bytes !== null && byteSize(audio.size_bytes)],
            ['Channels', audio.channels],
          ]}
        />
        {audio.tracks.length > 1 && <Tracks tracks={audio.tracks} />}
      </Section>
      {Object.keys(options).length > 0 && (
        <Section title="Options">
          <Facts rows={Object.entries(options).map(([name, value]) => [name, shown(value)] as const)} />
        </Section>
      )}
    </>
  );
}

function Tracks({ tracks }: { tracks: Job['audio']['tracks'] }) {
  return (
    <ol className="tracks" start={0}>
      {tracks.map(({ index, language, title, codec, channels }) => (
        <li key={index}>{[title, language, codec, `${channels} channels`].filter(Boolean).join(', ')}</li>
      ))}
    </ol>
  );
}

/** How much faster than real time the job was. */
function speedOf({ audio, started_at, completed_at }: Details): string | null {
  if (audio.duration_seconds === null || started_at === null || completed_at === null) return null;
  const seconds = (Date.parse(completed_at) - Date.parse(started_at)) / 1_000;
  return seconds > 0 ? `${(audio.duration_seconds / seconds).toFixed(1)}× real time` : null;
}

function shown(value: unknown): string {
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
