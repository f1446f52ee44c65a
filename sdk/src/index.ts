export type { BodyDifference } from './body-difference.ts';
export type { EventMemory, EventProgress } from './event-memory.ts';
export { rememberEvents } from './event-memory.ts';
export type {
  KnownSecret,
  SignatureCheck,
  SignatureExplanation,
  SignatureQuestion,
  SignatureVerdict,
} from './explain-signature.ts';
export { explainSignature } from './explain-signature.ts';
export type { ExpressHandler } from './express-handler.ts';
export { expressHandler } from './express-handler.ts';
export type { FastifyWebhookOptions } from './fastify-webhooks.ts';
export { fastifyWebhooks } from './fastify-webhooks.ts';
export type { FetchHandler } from './fetch-handler.ts';
export { fetchHandler } from './fetch-handler.ts';
export { BodyParsedError } from './raw-body.ts';
export type { DeliveryInfo, Handlers, Receiver, ReceiverOptions, Reply } from './receiver.ts';
export { createReceiver } from './receiver.ts';
export type {
  Body,
  HeaderSource,
  Verification,
  VerificationCode,
} from './signature.ts';
export {
  signBody,
  standardSignature,
  TOLERANCE_SECONDS,
  verifyDelivery,
  WebhookVerificationError,
} from './signature.ts';
export type * from './wire.ts';
