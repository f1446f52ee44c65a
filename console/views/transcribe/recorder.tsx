import { useEffect, useRef, useState } from 'react';
import { explainMicrophone } from '../../media/microphone-problem.ts';
import { addUpload } from '../../parts/uploads/upload-queue.ts';
import { session } from '../../session/session.ts';
import { clockTime } from '../../text/format.ts';
import { Button } from '../../ui/button.tsx';

type Recording = { recorder: MediaRecorder; startedAtMs: number };

const TYPES = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'];

/** Records from the microphone; the recording becomes an upload. */
export function Recorder() {
  const [recording, setRecording] = useState<Recording | null>(null);
  const [isOpening, setOpening] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isLeft = useRef(false);
  const current = useRef<Recording | null>(null);
  current.current = recording;
  // The microphone is released when the view is left; what was recorded until then is an upload.
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
      current.current?.recorder.stop();
    };
  }, []);

  const begin = async () => {
    setProblem(null);
    setOpening(true);
    try {
      const recorder = await openMicrophone();
      if (isLeft.current) return release(recorder.stream);
      const startedAtMs = Date.now();
      const { account } = session.get();
      const chunks: Blob[] = [];
      recorder.ondataavailable = ({ data }) => void chunks.push(data);
      recorder.onstop = () => {
        release(recorder.stream);
        setRecording(null);
        // Of whoever has signed out meanwhile, nothing is in the queue.
        if (session.get().account !== account) return;
        addUpload(fileOf(chunks, recorder.mimeType, startedAtMs), (Date.now() - startedAtMs) / 1_000);
      };
      recorder.start();
      setRecording({ recorder, startedAtMs });
    } catch (error) {
      setProblem(explainMicrophone(error as Error));
    } finally {
      setOpening(false);
    }
  };
  return (
    <div className="recorder">
      <p>
        <small>
          The browser asks for permission to use the microphone. The recording remains in this tab until you send it.{' '}
          <a href="#/live">Live</a> shows the words while you speak.
        </small>
      </p>
      {recording ? (
        <p className="row">
          <Button look="danger" onClick={() => recording.recorder.stop()}>
            ■ Stop
          </Button>
          <Elapsed sinceMs={recording.startedAtMs} />
        </p>
      ) : (
        <Button isBusy={isOpening} onClick={() => void begin()}>
          ● Record
        </Button>
      )}
      {problem && (
        <p className="notice problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return <span role="timer">{clockTime(Math.max(0, nowMs - sinceMs) / 1_000)}</span>;
}

/** @throws Error  NotAllowedError without permission, NotFoundError without a microphone */
async function openMicrophone(): Promise<MediaRecorder> {
  // Only secure pages have it.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) throw new DOMException('', 'SecurityError');
  const stream = await devices.getUserMedia({ audio: true });
  const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
  return new MediaRecorder(stream, mimeType ? { mimeType } : {});
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function fileOf(chunks: Blob[], mimeType: string, startedAtMs: number): File {
  const ending = /^audio\/(\w+)/.exec(mimeType)?.[1] ?? 'webm';
  const time = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(':', '-');
  return new File(chunks, `recording-${time}.${ending}`, { type: mimeType });
}
