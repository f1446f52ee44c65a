import { type ChangeEvent, type DragEvent, useState } from 'react';
import { say } from '../../ui/toast.tsx';
import { ACCEPTED, addFiles, filesOf } from './audio-files.ts';

/** Takes files by a drop or a choice, and adds them to the queue. @param onAdded  called once some are there */
export function DropZone({ onAdded }: { onAdded?: () => void }) {
  const [isOver, setOver] = useState(false);
  const add = (files: readonly File[]) => {
    if (addAll(files)) onAdded?.();
  };
  const onDrag = (event: DragEvent) => {
    event.preventDefault();
    setOver(event.type === 'dragover');
  };
  const onDrop = (event: DragEvent) => {
    onDrag(event);
    void filesOf(event.dataTransfer).then(add);
  };
  const onChoose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    add([...(target.files ?? [])]);
    // The same file can be chosen again.
    target.value = '';
  };
  return (
    <section
      className={isOver ? 'drop over' : 'drop'}
      aria-label="Files"
      onDragOver={onDrag}
      onDragLeave={onDrag}
      onDrop={onDrop}
    >
      <p>Drop audio or video files, or a folder, here</p>
      <p className="actions">
        <label className="button">
          Choose files
          <input type="file" multiple accept={ACCEPTED} onChange={onChoose} />
        </label>
        <label className="button">
          Choose a folder
          <input type="file" multiple onChange={onChoose} {...{ webkitdirectory: '' }} />
        </label>
      </p>
    </section>
  );
}

/** Whether some are audio or video; says how many are not. */
function addAll(files: readonly File[]): boolean {
  const left = addFiles(files);
  if (left > 0) say(`${left} ${left === 1 ? 'file was' : 'files were'} left out: not audio or video.`);
  return files.length > left;
}
