import workletUrl from 'worklet:./pcm-worklet.ts';
import type { LiveParams } from '#sdk/client/index.ts';

/** An open microphone. */
export type Microphone = {
  sampleRate: NonNullable<LiveParams['sample_rate']>;
  /** Releases it. Resolves once all that it heard was passed on. */
  stop(): Promise<void>;
};

/** A tenth of a second of signed 16-bit samples. @property peak  the highest level, 0 to 1 */
export type Piece = { pcm: ArrayBuffer; peak: number };

export type MicrophoneUser = {
  onPiece(piece: Piece): void;
  /** It was taken away: unplugged, or its permission was withdrawn. */
  onEnded(): void;
};

// Enough for speech. Browsers resample, but for some, which record at the rate of the device only.
const WANTED_RATE = 16_000;
const RATES: readonly number[] = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000];
// Speech engines are made for sound as it is.
const AUDIO = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true };

/**
 * Opens the microphone.
 * @throws DOMException  NotAllowedError without permission, NotFoundError without a microphone, SecurityError on a page
 *                       that is not secure
 */
export async function openMicrophone(user: MicrophoneUser): Promise<Microphone> {
  // Only secure pages have it.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) throw new DOMException('', 'SecurityError');
  const stream = await devices.getUserMedia({ audio: AUDIO });
  const release = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  try {
    const { context, node } = await connect(stream, { sampleRate: WANTED_RATE }).catch(() => connect(stream, {}));
    const ended = listen(node, user);
    stream.getAudioTracks()[0]!.onended = () => user.onEnded();
    const end = async () => {
      node.port.postMessage('end');
      await ended;
      release();
      await context.close();
    };
    let ending: Promise<void> | null = null;
    return {
      sampleRate: context.sampleRate as Microphone['sampleRate'],
      async stop() {
        ending ??= end();
        await ending;
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** @param options  without a rate, that of the device */
async function connect(stream: MediaStream, options: AudioContextOptions) {
  const context = new AudioContext(options);
  try {
    if (!RATES.includes(context.sampleRate)) throw new DOMException('', 'NotSupportedError');
    await context.audioWorklet.addModule(new URL(workletUrl, import.meta.url).href);
    const node = new AudioWorkletNode(context, 'pcm');
    context.createMediaStreamSource(stream).connect(node);
    // It is silent; some browsers run only what leads to the loudspeaker.
    node.connect(context.destination);
    await context.resume();
    // The system suspends it for a call or another program that takes the sound; while it may not go on, this fails.
    context.onstatechange = () => {
      if (context.state !== 'running' && context.state !== 'closed') void context.resume().catch(() => undefined);
    };
    return { context, node };
  } catch (error) {
    await context.close();
    throw error;
  }
}

/** Resolves after the last piece. */
async function listen({ port }: AudioWorkletNode, { onPiece }: MicrophoneUser): Promise<void> {
  await new Promise<void>((resolve) => {
    port.onmessage = ({ data }: MessageEvent<Piece | null>) => (data === null ? resolve() : onPiece(data));
  });
}
