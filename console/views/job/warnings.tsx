import type { Warning } from '#sdk/wire.ts';
import { useViewParams } from '../../app/filters.tsx';
import { clockTime } from '../../text/format.ts';

/** What can be done about each warning; the message of the API says what happened. */
const ADVICE: Record<Warning['code'], string> = {
  prompt_unsupported: 'Try another plan: its engine may accept a prompt.',
  keywords_unsupported: 'Try another plan: its engine may accept keywords.',
  words_unsupported: 'Try another plan: its engine may give times of words.',
  language_ignored: 'Transcribe again on another plan if the text is in the wrong language.',
  speakers_unavailable: 'Transcribe again later to find the speakers.',
  speakers_uncertain: 'Transcribe again with the number of speakers, if you know it.',
  more_audio_tracks: 'Transcribe again with audio_track for another one.',
  duplicate_channels: 'Nothing to do.',
  silent_channel: 'Check the recording if somebody should be heard on this channel.',
  audio_truncated: 'Send the complete file: its upload, download or recording was interrupted.',
  audio_after_end: 'Send the rest as a file.',
  no_speech: 'Listen to the recording: it may be silent, or contain only music or noise.',
  untranscribed: 'Listen to this part and write its text here, or transcribe again on another plan.',
  repetition: 'Listen to this part: the engine repeated itself, and its text is probably wrong.',
  text_cut: 'Listen to this part and complete its text here, or transcribe again on another plan.',
  connection_lost: 'If more was said, start another session.',
  audio_gap: 'Nothing to do.',
  behind: 'The operator can allow fewer sessions, or choose a faster engine.',
  segment_failed: 'Transcribe again while the audio is kept.',
  more_warnings: 'Further warnings are of the same kinds.',
};

/** The warnings of a job, each with what can be done; a warning about a part of the audio leads there. */
export function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <section className="notice warnings" aria-label="Warnings">
      <ul>
        {warnings.map(({ code, message, start, end }) => (
          <li key={`${code} ${start}`}>
            {message} <Part start={start} end={end} /> <span className="soft">{ADVICE[code]}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Part({ start, end }: { start: number | undefined; end: number | undefined }) {
  const { jobId } = useViewParams();
  if (start === undefined || end === undefined) return null;
  return (
    <a href={`#/jobs/${jobId}?t=${start}`}>
      {clockTime(start, 1)} to {clockTime(end, 1)}
    </a>
  );
}
