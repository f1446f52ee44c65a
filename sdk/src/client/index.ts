export type { VerbatimAdminOptions } from './admin.ts';
export { VerbatimAdmin } from './admin.ts';
export type { AudioInput } from './audio/audio-input.ts';
export type { OnUpload } from './audio/upload.ts';
export type { StreamedEvent } from './events.ts';
export type { ConnectionState, FollowOptions, StreamFrame, StreamOptions } from './follow-account.ts';
export type { JobUpdate } from './follow-job.ts';
export type { Clock } from './http/clock.ts';
export type { TimeoutPhase } from './http/errors.ts';
export {
  AbortedError,
  ApiError,
  AudioFetchFailedError,
  ConflictError,
  ConnectionError,
  ForbiddenUrlError,
  InsufficientBalanceError,
  InternalError,
  InvalidRequestError,
  JobFailedError,
  MethodNotAllowedError,
  MissingRoleError,
  MissingScopeError,
  NotFoundError,
  PlanLimitError,
  RangeNotSatisfiableError,
  RateLimitError,
  SuspendedError,
  TimeoutError,
  TooLargeError,
  UnauthenticatedError,
  UnavailableError,
  UnprocessableAudioError,
  UnreadableAnswerError,
  UnsupportedMediaTypeError,
  VerbatimError,
} from './http/errors.ts';
export { CsvPages, Pages } from './http/pages.ts';
export type { RawAnswer, RawCall } from './http/raw-request.ts';
export type { ClientOptions, Credential, RequestOptions, RequestReport } from './http/settings.ts';
export type { CompletedJob, Job } from './job.ts';
export type { TranscribeProgress, UploadOptions, WaitOptions } from './jobs.ts';
export type {
  LiveAudioLost,
  LiveParams,
  LivePartial,
  LiveSegment,
  LiveUpdate,
  LiveWarning,
} from './live/live-messages.ts';
export type { LiveConnectionState, LiveOptions, LiveSession } from './live/live-session.ts';
export type { SocketClass, SocketLike } from './live/live-socket.ts';
export type { TranscribeParams } from './transcribe-params.ts';
export type { VerbatimOptions } from './verbatim.ts';
export { Verbatim } from './verbatim.ts';
