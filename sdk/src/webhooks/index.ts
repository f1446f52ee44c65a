export type { BodyDifference } from './body-difference.ts';
export type {
  KnownSecret,
  SignatureCheck,
  SignatureExplanation,
  SignatureQuestion,
  SignatureVerdict,
} from './explain-signature.ts';
export { explainSignature } from './explain-signature.ts';
export type { EventMemory, EventProgress } from './receivers/event-memory.ts';
export { rememberEvents } from './receivers/event-memory.ts';
export type { ExpressHandler } from './receivers/express-handler.ts';
export { expressHandler } from './receivers/express-handler.ts';
export type { FastifyWebhookOptions } from './receivers/fastify-webhooks.ts';
export { fastifyWebhooks } from './receivers/fastify-webhooks.ts';
export type { FetchHandler } from './receivers/fetch-handler.ts';
export { fetchHandler } from './receivers/fetch-handler.ts';
export { BodyParsedError } from './receivers/raw-body.ts';
export type { DeliveryInfo, Handlers, Receiver, ReceiverOptions, Reply } from './receivers/receiver.ts';
export { createReceiver } from './receivers/receiver.ts';
export { signBody, standardSignature, verifyDelivery } from './signature.ts';
export type { Body, HeaderSource, Verification, VerificationCode } from './verification.ts';
export { TOLERANCE_SECONDS, WebhookVerificationError } from './verification.ts';
export { signBodyAsync, verifyDeliveryAsync } from './web-signature.ts';
