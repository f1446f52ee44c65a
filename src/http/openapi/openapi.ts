import type { Route } from '../route.ts';
import type { TSchema } from '../schema.ts';
import { describeOperation } from './operation.ts';
import { type JsonObject, plainSchema } from './plain-schema.ts';

const PAYLOADS = 'Webhook requests';

const TAGS: Record<string, string> = {
  Transcription: 'Audio in, text out: at once, or as a job.',
  OpenAI: "For clients of OpenAI's speech API, with a changed base URL.",
  Account: 'The account of the key.',
  Balance: 'What the account can spend.',
  'Stored audio': 'The audio of jobs, while it is kept.',
  Sharing: 'Links that show one transcript to whoever has them.',
  Webhooks: 'Where events are delivered.',
  Deliveries: 'The log of delivery attempts, and sending again.',
  Events: 'What was emitted.',
  [PAYLOADS]: 'What a webhook gets.',
  Accounts: 'For operators: accounts and their credits.',
  Keys: 'API keys.',
  Session: 'For browsers: signed in by a cookie, in place of a key.',
  'Sign-in': 'For browsers: how people sign in, and the first one.',
  Users: 'For browsers: the people of an account, and invitations.',
  Secrets: 'For operators: how stored secrets are encrypted.',
  'Live transcription':
    'Sessions over WebSocket, by the messages of this service or those of the Realtime API of OpenAI: docs/live.md.',
  Audit: 'For operators: who changed what.',
  Operation: 'For operators: what runs and waits, over all accounts.',
  Service: 'Health, metrics and this document.',
};

/** A webhook request: the type of the event, when it is emitted, and the schema of the body. */
export type EventPayload = { type: string; when: string; schema: TSchema };

/**
 * The OpenAPI 3.1 document of the routes, from the schemas that validate their requests and type their answers.
 * Schemas that name themselves (`component`) are listed once under `components`. WebSockets are left out: OpenAPI has
 * no words for their messages, and clients made from it could not call them. So are places that browsers are sent to.
 */
export function describeApi(
  allRoutes: Route[],
  { version, events = [] }: { version: string; events?: EventPayload[] },
): JsonObject {
  const routes = allRoutes.filter(({ schema }) => !(101 in schema.answers || 302 in schema.answers));
  const components: Record<string, unknown> = {};
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, components) };
  }
  const used = new Set([...routes.map(({ tag }) => tag), ...(events.length > 0 ? [PAYLOADS] : [])]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verbatim',
      version,
      description: 'Transcription with durable jobs and signed webhooks.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...used].map((name) => ({ name, ...(TAGS[name] && { description: TAGS[name] }) })),
    paths,
    ...(events.length > 0 && { webhooks: describeEvents(events, components) }),
    components: {
      schemas: components,
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, for clients of other speech APIs.' },
        Session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'verbatim_session',
          description:
            'Of a browser, from POST /v1/session or /v1/sign-in; over HTTPS its name is __Host-verbatim_session.',
        },
        AdminToken: { type: 'http', scheme: 'bearer', description: "The operator's token." },
      },
    },
  };
}

function describeEvents(events: EventPayload[], components: JsonObject): JsonObject {
  const entries = events.map(({ type, when, schema }) => [
    type,
    {
      post: {
        operationId: `event_${type.replaceAll('.', '_')}`,
        summary: when,
        // Not the tag of the routes: generators make a class of each tag, for requests and for webhooks alike.
        tags: [PAYLOADS],
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: plainSchema(schema, components) } } },
        responses: {
          '2XX': { description: 'Received. Anything else is a failure, and is tried again.' },
          default: { description: 'A failure.' },
        },
      },
    },
  ]);
  return Object.fromEntries(entries);
}
