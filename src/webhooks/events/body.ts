import { RawJson, writeJson } from '../../platform/json.ts';
import type { EmittedType, EventData } from './event-types.ts';

/** Past this many bytes a body leaves the segments out: receivers commonly refuse larger ones. */
const MAX_BYTES_WITH_SEGMENTS = 256 * 1024;
/** Past this many bytes without segments, a body leaves the text out too. */
const MAX_BODY_BYTES = 1024 * 1024;

type EventEnvelope = {
  id: string;
  type: EmittedType;
  createdAt: Date;
  /** The client's JSON text, echoed as it stands; null when the request carried none. */
  metadata: string | null;
  data: EventData;
};

/**
 * The bytes of an event as they are stored, signed and sent: UTF-8 JSON. A body over `MAX_BYTES_WITH_SEGMENTS`
 * leaves the job's segments out and says so in `segments_omitted`; one that is still over `MAX_BODY_BYTES` leaves the
 * text out and says so in `text_omitted`. The receiver fetches them from the job.
 */
export function eventBody(envelope: EventEnvelope): Buffer {
  const body = serialise(envelope, envelope.data);
  if (body.length <= MAX_BYTES_WITH_SEGMENTS || !('job' in envelope.data)) return body;
  const { segments: _, ...job } = envelope.data.job;
  const withText = serialise(envelope, { job: { ...job, segments_omitted: true } });
  if (withText.length <= MAX_BODY_BYTES) return withText;
  const { text: __, ...rest } = job;
  return serialise(envelope, { job: { ...rest, segments_omitted: true, text_omitted: true } });
}

function serialise({ id, type, createdAt, metadata }: EventEnvelope, data: EventData): Buffer {
  const echoed = metadata === null ? undefined : new RawJson(metadata);
  return Buffer.from(writeJson({ id, type, created_at: createdAt.toISOString(), metadata: echoed, data }));
}
