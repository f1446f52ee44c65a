/** The used part of sherpa-onnx-node, which has no types of its own. */
declare module 'sherpa-onnx-node' {
  type Stream = { acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void };
  type Recognizer = {
    createStream(): Stream;
    setConfig(config: object): void;
    decodeAsync(stream: Stream): Promise<unknown>;
  };
  type OnlineStream = Stream & { inputFinished(): void };
  type OnlineRecognizer = {
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    decode(stream: OnlineStream): void;
    getResult(stream: OnlineStream): unknown;
  };
  type Vad = {
    acceptWaveform(samples: Float32Array): void;
    isDetected(): boolean;
    isEmpty(): boolean;
    pop(): void;
    reset(): void;
  };
  type Diarization = { handle: DiarizationHandle; setConfig(config: { clustering: object }): void };
  type EmbeddingExtractor = {
    createStream(): OnlineStream;
    isReady(stream: Stream): boolean;
    compute(stream: Stream): Float32Array;
  };
  const sherpa: {
    OfflineRecognizer: { createAsync(config: object): Promise<Recognizer> };
    OnlineRecognizer: new (config: object) => OnlineRecognizer;
    Vad: new (config: object, bufferSeconds: number) => Vad;
    OfflineSpeakerDiarization: new (config: object) => Diarization;
    SpeakerEmbeddingExtractor: new (config: object) => EmbeddingExtractor;
  };
  export default sherpa;
}

type DiarizationHandle = { readonly __diarization: unique symbol };

/** The native module, for a function that the classes lack. */
declare module 'sherpa-onnx-node/addon.js' {
  const addon: {
    /** Copies the samples; the turns are in the order of their starts. @param onProgress  parts done, of all parts */
    offlineSpeakerDiarizationProcessAsync(
      diarization: DiarizationHandle,
      samples: Float32Array,
      onProgress: (done: number, total: number) => void,
    ): Promise<{ start: number; end: number; speaker: number }[]>;
  };
  export default addon;
}
