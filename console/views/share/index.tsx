import { useQuery } from '@tanstack/react-query';
import type { SharedTranscript } from '#sdk/wire.ts';
import { apiOfNobody } from '../../api/client.ts';
import { isGone } from '../../api/problem.ts';
import { useViewParams } from '../../app/filters.tsx';
import { Legend } from '../../parts/voices/legend.tsx';
import { voiceOf, voicesOf } from '../../parts/voices/voices.ts';
import { clockTime } from '../../text/format.ts';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { ShareDownloads } from './downloads.tsx';

/** A transcript that somebody shared by a link: for readers without an account. */
export default function SharedTranscriptView() {
  const { token = '' } = useViewParams();
  const path = `/v1/shared/${encodeURIComponent(token)}`;
  const query = useQuery({
    queryKey: ['share', token],
    queryFn: async ({ signal }) =>
      JSON.parse((await apiOfNobody.request('GET', path, { signal })).text) as SharedTranscript,
    // Each reading is counted.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (isGone(query.error)) return <Ended />;
  const { data } = query;
  return (
    <Page title={data?.name ?? 'Transcript'} actions={data && <ShareDownloads path={path} name={data.name} />}>
      <Query of={query}>{(shown) => <Reading transcript={shown} />}</Query>
    </Page>
  );
}

function Ended() {
  return (
    <Page title="This link has ended">
      <Empty title="It has expired, somebody has ended it, or a part of it is missing.">
        <p>Ask whoever sent it for another one.</p>
      </Empty>
    </Page>
  );
}

/** All segments are in the page, so that the browser finds, copies and prints them. */
function Reading({ transcript }: { transcript: SharedTranscript }) {
  const { segments, speakers = {}, created_at, expires_at, duration_seconds, language } = transcript;
  // The segments have the names in place of the labels.
  const names = Object.fromEntries(Object.values(speakers).map((name) => [name, name]));
  const voices = voicesOf(segments, names);
  return (
    <>
      <Section>
        <Facts
          rows={[
            ['Sent', <Time key="sent" at={created_at} exact />],
            ['Length', clockTime(duration_seconds)],
            ['Language', language],
            ['The link ends', <Time key="ends" at={expires_at} exact />],
          ]}
        />
      </Section>
      <section className="card" aria-label="Transcript">
        <div className="tools">
          <Legend voices={[...voices.values()]} />
        </div>
        {segments.length === 0 && <p>No speech was found.</p>}
        <ol className="reading" aria-label="Segments">
          {segments.map((segment, at) => {
            const id = voiceOf(segment);
            const voice = id === null ? undefined : voices.get(id);
            const isNewVoice = at === 0 || id !== voiceOf(segments[at - 1]!);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the segments never change
              <li key={at} className="segment" data-voice={voice?.color}>
                <span className="segment-time">{clockTime(segment.start, 1)}</span>
                <div className="segment-body">
                  {voice && isNewVoice && <span className="voice">{voice.label}</span>}
                  <p dir="auto">{segment.text}</p>
                </div>
              </li>
            );
          })}
        </ol>
      </section>
    </>
  );
}
