import { typed } from '../text/command.ts';

export type WayName = 'curl' | 'cli' | 'sdk' | 'python' | 'openai';

type Way = { name: WayName; title: string; code: (origin: string) => string };

/**
 * The ways to create a job. The metadata tells the page Start which of them a job came by; OpenAI's client sends none.
 */
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
