import { Pencil, Repeat } from 'lucide-react';
import { memo, useEffect, useRef } from 'react';
import type { Voice } from '../../../parts/voices/voices.ts';
import { clockTime } from '../../../text/format.ts';
import { Button } from '../../../ui/button.tsx';
import type { SegmentEdit } from '../edit/edit-session.ts';
import type { RowActions } from '../edit/row-actions.ts';
import { EditStatus, SegmentEditor } from '../edit/segment-editor.tsx';
import type { Marks } from '../words/marks.ts';

export type RowProps = {
  index: number;
  start: number;
  /** As it is shown: edited or not. */
  text: string;
  /** Null where nothing was edited. */
  original: string | null;
  edit: SegmentEdit | undefined;
  voice: Voice | null;
  /** Whether the segment before has another voice. */
  isNewVoice: boolean;
  isSpoken: boolean;
  isLooped: boolean;
  isEditing: boolean;
  /** Whether the key may edit. */
  canEdit: boolean;
  marks: Marks;
  actions: RowActions;
};

/** A segment: its time, its voice, its text, and what can be done with it. */
export const SegmentRow = memo(function SegmentRow(props: RowProps) {
  const {
    index,
    start,
    text,
    original,
    edit,
    voice,
    isNewVoice,
    isSpoken,
    isLooped,
    isEditing,
    canEdit,
    marks,
    actions,
  } = props;
  const time = clockTime(start, 1);
  return (
    <article className="segment" aria-current={isSpoken ? 'true' : undefined} data-voice={voice?.color}>
      <Button look="quiet" className="segment-time" aria-label={`Go to ${time}`} onClick={() => actions.seek(start)}>
        {time}
      </Button>
      <div className="segment-body">
        {voice && isNewVoice && <span className="voice">{voice.label}</span>}
        {isEditing ? (
          <SegmentEditor index={index} text={text} label={`Text from ${time}`} actions={actions} />
        ) : (
          <RowText index={index} text={text} marks={marks} />
        )}
        <EditStatus index={index} edit={edit} original={original} actions={actions} />
      </div>
      <div className="segment-tools">
        <Button
          look="quiet"
          aria-label={`Repeat the segment from ${time}`}
          aria-pressed={isLooped}
          onClick={() => actions.loop(index)}
        >
          <Repeat aria-hidden />
        </Button>
        {canEdit && !isEditing && (
          <Button look="quiet" aria-label={`Edit the segment from ${time}`} onClick={() => actions.edit(index)}>
            <Pencil aria-hidden />
          </Button>
        )}
      </div>
    </article>
  );
});

/** The text is one text node, in which the marks have their places. */
function RowText({ index, text, marks }: { index: number; text: string; marks: Marks }) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another text node, with places of its own
  useEffect(() => {
    const node = paragraph.current!.firstChild;
    return node instanceof Text ? marks.add(index, node) : undefined;
  }, [index, text, marks]);
  return (
    <p ref={paragraph} data-segment-text={index} dir="auto">
      {text}
    </p>
  );
}
