import { type FocusEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Problem } from '../../../ui/state.tsx';
import type { SegmentEdit } from './edit-session.ts';
import type { RowActions } from './row-actions.ts';

// As many as the API takes in a segment.
const MAX_CHARS = 20_000;

/**
 * The text of a segment as a field. What is typed is saved by itself;
 * Enter, Escape and leaving the field end the editing.
 */
export function SegmentEditor({
  index,
  text,
  label,
  actions,
}: {
  index: number;
  text: string;
  label: string;
  actions: RowActions;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current!.focus({ preventScroll: true });
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const isEnd = event.key === 'Escape' || (event.key === 'Enter' && !event.shiftKey);
    // Enter also ends the choice of a character in an input method.
    if (!isEnd || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    actions.stopEditing();
  };
  const onBlur = (event: FocusEvent) => {
    // The tab was left, not the field.
    if (document.hasFocus() && event.relatedTarget !== field.current) actions.stopEditing();
  };
  return (
    <textarea
      ref={field}
      className="segment-editor"
      aria-label={label}
      dir="auto"
      value={text}
      maxLength={MAX_CHARS}
      onChange={(event) => actions.type(index, event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    />
  );
}

/** How the edit of a segment stands, and what the reader can do about it. */
export function EditStatus({
  index,
  edit,
  original,
  actions,
}: {
  index: number;
  edit: SegmentEdit | undefined;
  original: string | null;
  actions: RowActions;
}) {
  if (edit?.kind === 'conflict') {
    return (
      <div className="notice" role="alert">
        <p>This segment was changed elsewhere since you opened it. It now reads:</p>
        <blockquote dir="auto">{edit.theirs}</blockquote>
        <div className="actions">
          <Button onClick={() => actions.resolve(index, 'mine')}>Keep my text</Button>
          <Button onClick={() => actions.resolve(index, 'theirs')}>Use the other text</Button>
        </div>
      </div>
    );
  }
  if (edit?.kind === 'failed') return <Problem error={edit.error} retry={actions.retry} />;
  const state = edit && { waiting: 'Not saved yet', saving: 'Saving…', saved: 'Saved' }[edit.kind];
  if (original === null) return state ? <p className="segment-state">{state}</p> : null;
  return (
    <details className="segment-state">
      <summary>{state ? `Edited. ${state}` : 'Edited'}</summary>
      <blockquote dir="auto">{original}</blockquote>
      <Button onClick={() => actions.restore(index)}>Restore the original</Button>
    </details>
  );
}
