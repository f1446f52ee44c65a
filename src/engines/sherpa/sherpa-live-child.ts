import v8 from 'node:v8';
import vm from 'node:vm';
import sherpa from 'sherpa-onnx-node';
import { SAMPLE_RATE } from '../engine.ts';
import { serveLive } from '../live/child-serve-live.ts';
import { OnlineSegment } from './sherpa-stream.ts';

// The memory of a stream is freed when V8 collects its handle, which V8 takes for a few bytes:
// 2,000 streams grew by 44 MB.
const COLLECT_EVERY_STREAMS = 500;

// The process that sherpa-live.ts starts. A model that does not match its family aborts the process.
await serveLive<{ modelConfig: object }>(async ({ modelConfig }) => {
  const recognizer = new sherpa.OnlineRecognizer({
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: 80 },
    modelConfig,
    decodingMethod: 'greedy_search',
    enableEndpoint: 0,
  });
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  let ended = 0;
  return () =>
    new OnlineSegment(recognizer, () => {
      ended += 1;
      if (ended % COLLECT_EVERY_STREAMS === 0) collect();
    });
});
