import { CaptionChoice } from '../../../parts/captions/caption-choice.tsx';
import { clockTime } from '../../../text/format.ts';
import { saveFile } from '../../../text/save-file.ts';
import { Button } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Problem } from '../../../ui/state.tsx';
import type { Player } from '../player/player.ts';
import { VirtualRows } from '../rows/virtual-rows.tsx';
import { type Cue, readingSpeed } from './read-captions.ts';
import type { JobCaptions } from './use-captions.ts';

const FORMATS = [
  ['srt', 'SRT'],
  ['vtt', 'WebVTT'],
] as const;
const TYPES = { srt: 'application/x-subrip', vtt: 'text/vtt' };

/** The captions of a job, live over the player, with the options that shape them. */
export function CaptionsTab({
  id,
  captions,
  player,
  hasVoices,
}: {
  id: string;
  captions: JobCaptions;
  player: Player;
  hasVoices: boolean;
}) {
  const { form, setForm, cues, text, error, refetch } = captions;
  return (
    <section className="card captions" aria-label="Captions">
      <form className="columns" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Format"
          name="format"
          options={FORMATS}
          value={form.format}
          onChange={(event) => setForm({ format: event.target.value as typeof form.format })}
        />
      </form>
      <CaptionChoice form={form} onChange={setForm} hasNames={hasVoices} />
      <div className="actions">
        <Button disabled={text === null} onClick={() => void copyText(text!)}>
          Copy
        </Button>
        <Button
          look="primary"
          disabled={text === null}
          onClick={() => saveFile(`${id}.${form.format}`, new Blob([text!], { type: TYPES[form.format] }))}
        >
          Download .{form.format}
        </Button>
      </div>
      {error !== null && <Problem error={error} retry={refetch} />}
      <p className="hint" role="status">
        Captions: {cues.length}
      </p>
      <VirtualRows count={cues.length} label="Captions">
        {(at) => <CueRow cue={cues[at]!} player={player} />}
      </VirtualRows>
    </section>
  );
}

function CueRow({ cue, player }: { cue: Cue; player: Player }) {
  const time = clockTime(cue.start, 1);
  const speed = readingSpeed(cue);
  return (
    <article className="segment cue">
      <Button look="quiet" className="segment-time" aria-label={`Go to ${time}`} onClick={() => player.seek(cue.start)}>
        {time}
      </Button>
      <p dir="auto">
        {cue.speaker !== null && <b>{cue.speaker}: </b>}
        {cue.lines.join('\n')}
      </p>
      <small>
        {(cue.end - cue.start).toFixed(1)} s{Number.isFinite(speed) && `, ${Math.round(speed)}/s`}
      </small>
    </article>
  );
}
