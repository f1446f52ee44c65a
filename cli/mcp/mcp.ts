import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import type { Verbatim } from '#sdk/client/index.ts';
import manifest from '../../package.json' with { type: 'json' };
import { action, type Io, type Session } from '../command.ts';
import { DATA_NOTICE } from './answers.ts';
import { addTools } from './tools.ts';
import type { ToolDeps } from './transcribe-tool.ts';
import { pageOf, timedLines } from './transcript-page.ts';

const INSTRUCTIONS = `Transcribes audio with the Verbatim service, and searches and reads earlier transcripts. ${DATA_NOTICE}`;
const MAX_RESOURCE_CHARS = 100_000;
const LISTED = 50;

/** `verbatim mcp` */
export function define(command: Command, io: Io): void {
  command
    .option('--root <folder>', 'files are read from this folder only; default: the working directory')
    .addHelpText('after', '\nThe server speaks the Model Context Protocol on standard input and output.')
    .action(action<[], { root?: string }>(io, serve));
}

async function serve(session: Session, { root = process.cwd() }: { root?: string }): Promise<void> {
  const { stdin, stdout, signal } = session.io;
  const deps = { client: await session.client(), root };
  const transport = new StdioServerTransport(stdin as Readable, stdout as Writable);
  const served = serveStdio(() => buildMcpServer(deps), { transport });
  // The client ends the server by closing its input.
  await finished(stdin as Readable, { writable: false, signal }).catch(() => undefined);
  await served.close();
}

/** A server with all tools, and the transcripts as resources. */
function buildMcpServer(deps: ToolDeps): McpServer {
  const server = new McpServer(
    { name: 'verbatim', title: 'Verbatim', version: manifest.version },
    { instructions: INSTRUCTIONS },
  );
  addTools(server, deps);
  addResources(server, deps.client);
  return server;
}

function addResources(server: McpServer, client: Verbatim): void {
  const template = new ResourceTemplate('verbatim://transcripts/{job_id}', {
    async list({ mcpReq: { signal } }) {
      const { data } = await client.jobs.list({ status: 'completed', limit: LISTED }, { signal });
      return {
        resources: data.map(({ id, audio, created_at }) => ({
          uri: `verbatim://transcripts/${id}`,
          name: audio.filename ?? id,
          description: `Transcript of ${created_at}`,
          mimeType: 'text/plain',
        })),
      };
    },
  });
  const about = { title: 'Transcript', description: `A transcript. ${DATA_NOTICE}`, mimeType: 'text/plain' };
  server.registerResource('transcript', template, about, async (uri, variables, { mcpReq: { signal } }) => {
    const id = String(variables['job_id']);
    const whole = timedLines(await client.jobs.transcript(id, 'json', {}, { signal }));
    const { text, to, total } = pageOf(whole, 0, MAX_RESOURCE_CHARS);
    const rest = to < total ? `\n[${total - to} more characters: read_transcript with offset ${to}]\n` : '';
    return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: text + rest }] };
  });
}
