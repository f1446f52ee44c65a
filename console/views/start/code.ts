import { typed } from '../../text/command.ts';

export type WayName = 'curl' | 'cli' | 'sdk' | 'python' | 'openai';

type Way = { name: WayName; title: string; code: (origin: string) => string };

/** The ways to create a job. The metadata tells this page which of them a job came by; OpenAI's client sends none. */
export const WAYS: readonly Way[] = [
  {
    name: 'curl',
    title: 'curl',
    code: (origin) => `curl '${origin}/v1/transcribe' \\
  -H "X-API-Key: $VERBATIM_API_KEY" \\
  -F 'metadata={"start":"curl"}' \\
  -F 'file=@call.mp3'`,
  },
  {
    name: 'cli',
    title: 'Command line',
    code: (origin) => `export VERBATIM_URL='${origin}'
${typed('transcribe call.mp3')} --metadata '{"start":"cli"}'`,
  },
  {
    name: 'sdk',
    title: 'TypeScript',
    code: (origin) =>
      [
        "import { Verbatim } from '@verbatim/sdk';",
        '',
        `const client = new Verbatim({ baseUrl: '${origin}' });`,
        "const job = await client.transcribe({ path: 'call.mp3' }, { metadata: { start: 'sdk' } });",
        'console.log(job.text);',
      ].join('\n'),
  },
  {
    name: 'python',
    title: 'Python',
    code: (origin) =>
      [
        'from verbatim_sdk import Verbatim',
        '',
        `with Verbatim(base_url="${origin}") as client:`,
        '    job = client.transcribe("call.mp3", metadata={"start": "python"})',
        '    print(job["text"])',
      ].join('\n'),
  },
  {
    name: 'openai',
    title: "OpenAI's Python client",
    code: (origin) =>
      [
        'import os',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${origin}/v1", api_key=os.environ["VERBATIM_API_KEY"])`,
        'with open("call.mp3", "rb") as audio:',
        '    print(client.audio.transcriptions.create(model="lite", file=audio).text)',
      ].join('\n'),
  },
];

/** Receivers that verify signatures. */
export const RECEIVERS = [
  {
    name: 'express',
    label: 'Express',
    code: [
      "import express from 'express';",
      "import { expressHandler } from '@verbatim/sdk';",
      '',
      'const app = express();',
      'app.post(',
      "  '/hooks/verbatim', // before express.json(): the signature covers the raw bytes",
      '  expressHandler({',
      '    secret: process.env.VERBATIM_SECRET,',
      '    on: {',
      "      'transcription.completed': async ({ data: { job } }) => console.log(job.id, job.text),",
      "      'transcription.failed': async ({ data: { job } }) => console.error(job.id, job.error.message),",
      '    },',
      '  }),',
      ');',
      'app.listen(3000);',
    ].join('\n'),
  },
  {
    name: 'fetch',
    label: 'Hono, Next.js, Bun, Deno',
    code: [
      "import { fetchHandler } from '@verbatim/sdk';",
      '',
      '// From a Request to a Response.',
      'export const POST = fetchHandler({',
      '  secret: process.env.VERBATIM_SECRET,',
      "  on: { 'transcription.completed': async ({ data: { job } }) => console.log(job.id, job.text) },",
      '});',
    ].join('\n'),
  },
  {
    name: 'python',
    label: 'Python',
    code: [
      'import hashlib, hmac, os',
      '',
      'def is_genuine(headers, body: bytes) -> bool:',
      '    """Also refuse a timestamp that is more than 5 minutes old."""',
      '    signed = headers["X-Service-Timestamp"].encode() + b"." + body',
      '    expected = hmac.new(os.environ["VERBATIM_SECRET"].encode(), signed, hashlib.sha256).hexdigest()',
      '    return hmac.compare_digest(expected, headers["X-Service-Signature"])',
    ].join('\n'),
  },
] as const;
