import { type ChangeEvent, useId, useState, useSyncExternalStore } from 'react';
import { Problem } from '../../../ui/state.tsx';
import { say } from '../../../ui/toast.tsx';
import type { FileCheck } from './attached-file.ts';
import type { Player } from './player.ts';
import type { JobSound } from './use-sound.ts';

/** Why there is no sound, and what the reader can do about it. Nothing while there is one. */
export function AudioState({ player, sound }: { player: Player; sound: JobSound }) {
  const { problem } = useSyncExternalStore(player.subscribe, () => player.state);
  if (sound.error !== null) return <Problem error={sound.error} retry={sound.retry} />;
  if (sound.source === 'none') {
    return (
      <AttachFile sound={sound}>
        The service no longer stores the audio of this job. To listen, attach the file from this computer: it stays in
        this tab.
      </AttachFile>
    );
  }
  if (problem === 'unplayable') {
    return (
      <AttachFile sound={sound}>
        This browser cannot play this audio. Attach the audio in another format, such as MP3.
      </AttachFile>
    );
  }
  return null;
}

function AttachFile({ sound, children }: { sound: JobSound; children: React.ReactNode }) {
  const id = useId();
  const [refused, setRefused] = useState<FileCheck | null>(null);
  const onChange = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (!file) return;
    const check = await sound.attach(file);
    setRefused(check);
    if (check.kind === 'same-length') say('The file has another size than the audio of the job, and the same length.');
    target.value = '';
  };
  return (
    <div className="notice attach">
      <p>{children}</p>
      <label htmlFor={id}>Audio file</label>
      <input id={id} type="file" accept="audio/*,video/*" onChange={(event) => void onChange(event)} />
      {refused?.kind === 'other' && <p role="alert">This file is not the audio of the job. {refused.why}</p>}
    </div>
  );
}
