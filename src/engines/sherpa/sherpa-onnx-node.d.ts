/** The used part of sherpa-onnx-node, which has no types of its own. */
declare module 'sherpa-onnx-node' {
  type Stream = { acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void };
  type Recognizer = {
    createStream(): Stream;
    setConfig(config: object): void;
    decodeAsync(stream: Stream): Promise<unknown>;
  };
  type Vad = {
    acceptWaveform(samples: Float32Array): void;
    isDetected(): boolean;
    isEmpty(): boolean;
    pop(): void;
    reset(): void;
  };
  const sherpa: {
    OfflineRecognizer: { createAsync(config: object): Promise<Recognizer> };
    Vad: new (config: object, bufferSeconds: number) => Vad;
  };
  export default sherpa;
}
