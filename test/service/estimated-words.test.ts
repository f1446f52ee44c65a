import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../../src/platform/installation.ts';
import answers from '../fixtures/servers/speech-answers.json' with { type: 'json' };
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService } from '../fixtures/service.ts';

const SPEECH = new Blob([readFileSync(path.join(ROOT, 'assets/speech/librivox-0920.wav'))]);
/** The words of the answer without times. */
const WITHOUT_TIMES = ['$500', '3', '12'];
const { answer } = answers.find(({ server }) => server.includes('aligns no numbers'))!;
const TEXT = 'She paid $500 for 3 tickets today. 12 of us came.';

const server = await openSpeechServer({ body: JSON.stringify(answer) });
const engine = `openai:${server.baseUrl}`;
const service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine });
const { key } = await service.account();
test.after(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function send(route: string, fields: Record<string, string>): Promise<string> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', SPEECH, 'speech.wav');
  const sent = await fetch(service.baseUrl + route, { method: 'POST', headers: { 'x-api-key': key }, body });
  const text = await sent.text();
  assert.equal(sent.status, 200, text);
  return text;
}

type Timed = { start: number; end: number; estimated?: true };

/** Times that grow, and the words of which the answer says that they are estimated. */
function estimatedOf<Word extends Timed>(words: readonly Word[], textOf: (word: Word) => string): string[] {
  let last = 0;
  for (const word of words) {
    assert.ok(last <= word.start && word.start < word.end, JSON.stringify(words));
    last = word.end;
  }
  return words.filter(({ estimated }) => estimated).map(textOf);
}

test('a job says which words have estimated times, also after replacements', async () => {
  const replacements = JSON.stringify([{ from: 'for 3', to: 'for three' }]);

  const given = JSON.parse(await send('/v1/transcribe', { timestamps: 'word' }));
  const replaced = JSON.parse(await send('/v1/transcribe', { timestamps: 'word', replacements }));

  type Segment = { words: (Timed & { text: string })[] };
  const estimatedIn = (job: { segments: Segment[] }) =>
    estimatedOf(
      job.segments.flatMap(({ words }) => words),
      ({ text }) => text,
    );
  assert.deepEqual([given.text, estimatedIn(given)], [TEXT, WITHOUT_TIMES]);
  assert.deepEqual(estimatedIn(replaced), ['$500', 'for three', '12']);
});

test("the answer of OpenAI's API says which words have estimated times", async () => {
  const fields = { model: 'whisper-1', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' };

  const { text, words } = JSON.parse(await send('/v1/audio/transcriptions', fields));

  assert.equal(text, TEXT);
  assert.deepEqual(
    estimatedOf(words as (Timed & { word: string })[], ({ word }) => word),
    WITHOUT_TIMES,
  );
});

for (const format of ['srt', 'vtt']) {
  test(`captions as ${format} have the words with estimated times, between their neighbours`, async () => {
    const shape = { max_line_length: '10', max_lines: '1', min_duration: '0', min_gap: '0' };
    const captions = await send('/v1/transcribe', { response_format: format, ...shape });

    const cues = [...captions.matchAll(/^(\S+) --> (\S+)\n(.+)/gm)].map(([, start, end, text]) => ({
      start: secondsOf(start!),
      end: secondsOf(end!),
      text: text!,
    }));
    assert.equal(cues.map(({ text }) => text).join(' '), TEXT);
    assert.deepEqual(
      estimatedOf(cues, ({ text }) => text),
      [],
    );
    const sum = cues.find(({ text }) => text.includes('$500'))!;
    assert.ok(sum.start >= 0.8 && sum.end <= 1.5, captions);
  });
}

function secondsOf(time: string): number {
  const [hours, minutes, seconds] = time.replace(',', '.').split(':').map(Number);
  return 3600 * hours! + 60 * minutes! + seconds!;
}
