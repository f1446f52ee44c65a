import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { GetJobsQuery, GetSearchQuery } from '#sdk/api.ts';
import { ApiError } from '#sdk/client/index.ts';
import { DATA_NOTICE, json, summaryOf } from './answers.ts';
import { argumentValidator } from './argument-errors.ts';
import { READ_SCHEMA, type ReadArguments, readTranscript } from './read-tool.ts';
import { type ToolDeps, TRANSCRIBE_SCHEMA, type TranscribeArguments, transcribe } from './transcribe-tool.ts';

const READ: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

const page = {
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Entries of a page; 20 without it.' },
  cursor: { type: 'string', description: 'next_cursor of the page before.' },
};
const created = {
  created_after: { type: 'string', description: 'Time in ISO 8601.' },
  created_before: { type: 'string', description: 'Time in ISO 8601.' },
};
/** Adds all tools to a server. */
export function addTools(server: McpServer, deps: ToolDeps): void {
  const { client } = deps;
  addTool<TranscribeArguments>(server, 'transcribe', {
    title: 'Transcribe audio',
    description: [
      'Transcribes an audio or video file of this machine, or one at a public https URL. Costs credits.',
      'Answers with the start of the transcript or, when it takes longer than wait_seconds, with the id of the job:',
      `read it later with read_transcript. ${DATA_NOTICE}`,
    ].join(' '),
    properties: TRANSCRIBE_SCHEMA,
    required: [],
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    run: (given, context) => transcribe(deps, given, context),
  });
  addTool<GetJobsQuery>(server, 'list_transcripts', {
    title: 'List transcripts',
    description: `Lists jobs of transcription, newest first, without their texts. ${DATA_NOTICE}`,
    properties: {
      query: { type: 'string', description: 'Part of the file name.' },
      status: { type: 'string', enum: ['queued', 'processing', 'completed', 'failed', 'canceled'] },
      ...created,
      ...page,
    },
    annotations: READ,
    async run(given, { mcpReq: { signal } }) {
      const { data, next_cursor } = await client.jobs.list({ limit: 20, ...given }, { signal });
      return json({ jobs: data.map(summaryOf), next_cursor });
    },
  });
  addTool<GetSearchQuery>(server, 'search_transcripts', {
    title: 'Search transcripts',
    description: `Finds transcripts by their words, with the places of the hits in seconds. ${DATA_NOTICE}`,
    properties: {
      q: { type: 'string', description: 'Words; "a phrase"; -not; or.' },
      language: { type: 'string', description: 'Of the transcript, such as en.' },
      ...created,
      ...page,
    },
    required: ['q'],
    annotations: READ,
    async run(given, { mcpReq: { signal } }) {
      const { data, next_cursor } = await client.search({ limit: 20, ...given }, { signal });
      return json({ results: data, next_cursor });
    },
  });
  addTool<ReadArguments>(server, 'read_transcript', {
    title: 'Read a transcript',
    description: `Reads the transcript of a completed job. A long one comes in pages: the answer names the offset of the next page. ${DATA_NOTICE}`,
    properties: READ_SCHEMA,
    required: ['job_id'],
    annotations: READ,
    run: (given, { mcpReq: { signal } }) => readTranscript(client, given, signal),
  });
  addTool<{ job_id: string }>(server, 'get_job', {
    title: 'Get a job',
    description: `The state of a job: its progress, its cost, its error if it failed. ${DATA_NOTICE}`,
    properties: { job_id: READ_SCHEMA.job_id },
    required: ['job_id'],
    annotations: READ,
    run: async (given, { mcpReq: { signal } }) => json(summaryOf(await client.jobs.get(given.job_id, { signal }))),
  });
  addTool(server, 'balance', {
    title: 'Balance',
    description: 'The credits of the account.',
    properties: {},
    annotations: READ,
    run: async (_given, { mcpReq: { signal } }) => json(await client.balance({ signal })),
  });
}

type Tool<Arguments> = {
  title: string;
  description: string;
  /** JSON Schemas of the arguments. */
  properties: Record<string, object>;
  required?: string[];
  annotations: ToolAnnotations;
  run(given: Arguments, context: ServerContext): Promise<CallToolResult>;
};

function addTool<Arguments>(server: McpServer, name: string, tool: Tool<Arguments>): void {
  const { title, description, properties, required = [], annotations, run } = tool;
  const schema = { type: 'object', properties, required, additionalProperties: false } as const;
  const inputSchema = fromJsonSchema<Arguments>(schema, argumentValidator());
  server.registerTool(name, { title, description, annotations, inputSchema }, async (given, context) => {
    try {
      return await run(given, context);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const request = error instanceof ApiError && error.requestId ? ` (${error.requestId})` : '';
      return { isError: true, content: [{ type: 'text', text: error.message + request }] };
    }
  });
}
