import { Suspense, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Legend } from '../../../parts/voices/legend.tsx';
import { lazyFrom, loadOnce } from '../../../router/lazy.tsx';
import type { EditSession, SegmentEdit } from '../edit/edit-session.ts';
import type { RowActions } from '../edit/row-actions.ts';
import { FindBar } from '../find/find-bar.tsx';
import { useFind } from '../find/use-find.ts';
import { useCommands } from '../player/commands.ts';
import type { Player } from '../player/player.ts';
import { type Rows, VirtualRows } from '../rows/virtual-rows.tsx';
import { clickedPlace } from '../words/clicked-place.ts';
import { Marks } from '../words/marks.ts';
import { useSpoken } from '../words/use-spoken.ts';
import { wordAtOffset } from '../words/word-index.ts';
import { KeyHint } from './key-hint.tsx';
import { SegmentRow } from './segment-row.tsx';
import { Threshold } from './threshold.tsx';
import { TranscriptTools } from './transcript-tools.tsx';
import type { ShownTranscript } from './use-transcript.ts';

const DEFAULT_THRESHOLD = 0.5;
const VoiceMenu = lazyFrom(
  loadOnce(() => import('./voice-menu.tsx')),
  (loaded) => loaded.VoiceMenu,
);

/** The transcript, which follows the sound: find, copy, edit, and a click that seeks. */
export function TranscriptTab({
  transcript,
  player,
  canEdit,
}: {
  transcript: ShownTranscript;
  player: Player;
  canEdit: boolean;
}) {
  const { segments, index, voices } = transcript;
  const rows = useRef<Rows>(null);
  const [editing, setEditing] = useState<number | null>(null);
  const [threshold, setThreshold] = useState(DEFAULT_THRESHOLD);
  const marks = useMarks(transcript, threshold);
  const spoken = useSpoken({ index, player, marks, rows, isPaused: editing !== null });
  const find = useFind({ segments, marks, rows, from: () => spoken.segment });
  const { loop } = useSyncExternalStore(player.subscribe, () => player.state);
  const actions = useRowActions({ transcript, player, setEditing });
  const seekByClick = useSeekByClick(transcript, player);
  useCommands((command) => {
    if (command.kind === 'loop') actions.loop(spoken.now());
    else if (command.kind === 'follow') spoken.setFollowing(!spoken.isFollowing);
    else if (command.kind === 'edit' && canEdit) actions.edit(spoken.now());
    else if (command.kind === 'next-match') find.step(1);
    else if (command.kind === 'previous-match') find.step(-1);
    else return false;
    return true;
  });
  const hasConfidence = useMemo(() => index.confidences.some((confidence) => !Number.isNaN(confidence)), [index]);
  const looped = loop === null ? -1 : segments.findIndex(({ start }) => start === loop.start);
  return (
    <section className="card transcript" aria-label="Transcript" ref={seekByClick}>
      <div className={find.query === '' ? 'tools kept' : 'tools kept finding'}>
        <FindBar find={find} />
        <TranscriptTools {...{ transcript, player }} isFollowing={spoken.isFollowing} onFollow={spoken.setFollowing} />
      </div>
      <div className="tools">
        <Legend voices={[...voices.values()]}>
          {(voice) =>
            canEdit &&
            voice.speaker !== null && (
              <Suspense>
                <VoiceMenu voice={voice} transcript={transcript} />
              </Suspense>
            )
          }
        </Legend>
        {hasConfidence && <Threshold value={threshold} onChange={setThreshold} />}
      </div>
      <KeyHint />
      {segments.length === 0 && <p>No speech was found.</p>}
      <VirtualRows
        ref={rows}
        count={segments.length}
        label="Segments"
        kept={editing}
        onReaderScroll={spoken.readerScrolled}
      >
        {(at) => (
          <EditedRow
            {...{ at, transcript, marks, actions, canEdit }}
            isSpoken={spoken.segment === at}
            isLooped={looped === at}
            isEditing={editing === at}
          />
        )}
      </VirtualRows>
    </section>
  );
}

type EditedRowProps = {
  at: number;
  transcript: ShownTranscript;
  marks: Marks;
  actions: RowActions;
  canEdit: boolean;
  isSpoken: boolean;
  isLooped: boolean;
  isEditing: boolean;
};

/** A row that renders again when the edit of its segment changes. */
function EditedRow({ at, transcript, ...rest }: EditedRowProps) {
  const edit = useEdit(transcript.edits, at);
  const segment = transcript.segments[at]!;
  const original = transcript.originals[at]!.text;
  const text = edit?.text ?? segment.text;
  const voice = transcript.voiceAt(at);
  return (
    <SegmentRow
      {...rest}
      index={at}
      start={segment.start}
      text={text}
      original={text === original ? null : original}
      edit={edit}
      voice={voice}
      isNewVoice={at === 0 || voice !== transcript.voiceAt(at - 1)}
    />
  );
}

function useEdit(edits: EditSession, at: number): SegmentEdit | undefined {
  return useSyncExternalStore(edits.subscribe, () => edits.of(at));
}

function useMarks({ index }: ShownTranscript, threshold: number): Marks {
  const [marks] = useState(() => new Marks(index));
  useEffect(() => marks.setIndex(index), [marks, index]);
  useEffect(() => marks.setThreshold(threshold), [marks, threshold]);
  useEffect(() => () => marks.close(), [marks]);
  return marks;
}

function useRowActions({
  transcript,
  player,
  setEditing,
}: {
  transcript: ShownTranscript;
  player: Player;
  setEditing: (segment: number | null) => void;
}): RowActions {
  const latest = useRef(transcript);
  latest.current = transcript;
  return useMemo(
    () => ({
      seek: (seconds) => player.seek(seconds),
      loop(at) {
        const { start, end } = latest.current.segments[at]!;
        player.setLoop(player.state.loop?.start === start ? null : { start, end });
      },
      edit: setEditing,
      stopEditing() {
        setEditing(null);
        void latest.current.edits.flush();
      },
      type: (at, text) => latest.current.edits.type(at, text),
      restore: (at) => void latest.current.edits.restore(at, latest.current.originals[at]!.text),
      resolve: (at, choice) => void latest.current.edits.resolve(at, choice),
      retry: () => void latest.current.edits.flush(),
    }),
    [player, setEditing],
  );
}

/**
 * A listener on the list: a click in a text goes to the word under it. The times of the rows do the same by keyboard.
 */
function useSeekByClick(
  { index }: ShownTranscript,
  player: Player,
): (list: HTMLElement | null) => (() => void) | undefined {
  return useCallback(
    (list: HTMLElement | null) => {
      const onClick = (event: MouseEvent) => {
        const place = clickedPlace(event);
        if (place) player.seek(index.starts[wordAtOffset(index, place.segment, place.offset)]!);
      };
      list?.addEventListener('click', onClick);
      return () => list?.removeEventListener('click', onClick);
    },
    [index, player],
  );
}
