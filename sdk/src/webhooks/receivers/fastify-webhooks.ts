import type { HeaderSource } from '../verification.ts';
import { BodyParsedError } from './raw-body.ts';
import { createReceiver, type ReceiverOptions } from './receiver.ts';

export type FastifyWebhookOptions = ReceiverOptions & {
  /** Where deliveries are posted to, such as /hooks/verbatim. */
  path: string;
};

type FastifyRequest = { headers: object; body?: unknown };
type FastifyReply = {
  code(status: number): FastifyReply;
  type(type: string): FastifyReply;
  send(body?: string): unknown;
};

/** The used methods of a Fastify instance, 4 or 5. */
type FastifyScope = {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: never, body: never, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
};

/**
 * A Fastify plugin: `app.register(fastifyWebhooks, { path, secret, on })`. Bodies stay raw in its own scope; the
 * parsers of the rest of the app are not changed. An error of the event's handler is passed to the app's error handler.
 */
export async function fastifyWebhooks(app: FastifyScope, options: FastifyWebhookOptions): Promise<void> {
  const receiver = createReceiver(options);
  const bodyLimit = receiver.maxBodyBytes;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));

  app.post(options.path, { bodyLimit }, async (request, reply) => {
    const { body = new Uint8Array() } = request;
    if (!(body instanceof Uint8Array)) {
      throw new BodyParsedError('Register fastifyWebhooks as it is, without fastify-plugin around it.');
    }
    const { status, message } = await receiver.receive({ headers: request.headers as HeaderSource, body });
    return message === null ? reply.code(status).send() : reply.code(status).type('text/plain').send(message);
  });
}
