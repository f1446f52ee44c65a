import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { readZipEntry } from '../../../test/fixtures/zip.ts';
import { editRoutes } from '../edits/routes.ts';

const HAS_PDFTOTEXT = spawnSync('pdftotext', ['-v']).status === 0;
const withPdftotext = { skip: HAS_PDFTOTEXT ? false : 'pdftotext is missing. Type: apt-get install poppler-utils' };

const SEGMENTS = [
  { start: 0, end: 2, text: 'Hello?', speaker: 'A' },
  { start: 65.4, end: 67, text: 'Yes, *I* am.', speaker: 'B' },
];

/** A completed job with the segments. */
async function openEnvironment(segments: object[] = SEGMENTS) {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
  await fixture.ended(account, id);
  await fixture.db.run({
    text: 'update jobs set segments = $1 where id = $2',
    values: [JSON.stringify(segments), id],
  });
  return {
    fixture,
    read: (query: object) => fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query }),
    async edit(body: object) {
      const [route] = editRoutes(fixture);
      await route!.handle({ account, params: { id }, body, actor: TEST_ACTOR, note: () => undefined } as never);
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('a transcript as Markdown shows speakers by their names, or by none where the request says so', async () => {
  await using environment = await openEnvironment();
  const { read, edit } = environment;

  await edit({ speakers: { A: 'Anna' } });
  const answer = await read({ format: 'md' });
  const [plain, original, refused] = [
    ...[await read({ format: 'md', speakers: 'false' }), await read({ format: 'md', version: 'original' })],
    await read({ format: 'md', max_lines: 2 }),
  ];

  assert.equal(answer.contentType, 'text/markdown; charset=utf-8');
  assert.match(answer.headers!['content-disposition']!, /^attachment; filename="job_\w+\.md"$/);
  assert.match(answer.text, /^# .+\n\n.+ · edited\n\n\*\*00:00:00 Anna:\*\* Hello\?\n\n/);
  assert.match(answer.text, /\n\n\*\*00:01:05 Speaker B:\*\* Yes, \\\*I\\\* am\.\n$/);
  assert.match(plain!.text, /\n\*\*00:01:05\*\* Yes/);
  assert.match(original!.text, /\*\*00:00:00 Speaker A:\*\* Hello/);
  assert.deepEqual([refused!.status, refused!.json.error.param], [400, 'max_lines']);
});

const contentOf = async ({ stream }: { stream?: Readable | undefined }) => await buffer(stream!);

test('a transcript as DOCX has the title, the speakers, the times and the text, its markup escaped', async () => {
  await using environment = await openEnvironment([
    ...SEGMENTS,
    { start: 70, end: 71, text: '<b> & \u05e9\u05dc\u05d5\u05dd \u65e5\u672c \ufffe', speaker: 'B' },
    { start: 3_725, end: 3_726, text: '\u05e9\u05dc\u05d5\u05dd', speaker: 'A' },
  ]);

  const answer = await environment.read({ format: 'docx' });
  const content = await contentOf(answer);
  const xml = readZipEntry(content, 'word/document.xml').toString();

  assert.equal(answer.contentType, 'application/vnd.openxmlformats-officedocument.wordprocessingml.document');
  assert.equal(answer.headers!['content-length'], String(content.length));
  assert.match(answer.headers!['content-disposition']!, /\.docx"$/);
  const texts = [...xml.matchAll(/<w:t\b[^>]*>([^<]*)<\/w:t>/g)].map(([, text]) => text);
  assert.deepEqual(texts.slice(2), [
    ...['00:00:00 Speaker A: ', 'Hello?'],
    ...['00:01:05 Speaker B: ', 'Yes, *I* am. &lt;b&gt; &amp; \u05e9\u05dc\u05d5\u05dd \u65e5\u672c \ufffd'],
    ...['01:02:05 Speaker A: ', '\u05e9\u05dc\u05d5\u05dd'],
  ]);
  assert.equal(xml.match(/<w:bidi\/>/g)?.length, 1);
});

test(
  'a transcript as PDF has the title, the speakers, the times and the text in four scripts',
  withPdftotext,
  async () => {
    await using environment = await openEnvironment([
      ...SEGMENTS,
      { start: 70, end: 71, text: 'Grüße, Ελλάδα, Київ, ქართული; fi ffl', speaker: 'B' },
    ]);

    const answer = await environment.read({ format: 'pdf' });
    const input = await contentOf(answer);
    const text = execFileSync('pdftotext', ['-layout', '-', '-'], { input, encoding: 'utf8' });

    assert.equal(answer.contentType, 'application/pdf');
    for (const line of ['00:00:00 Speaker A', 'Hello?', '00:01:05 Speaker B', 'Yes, *I* am. Grüße, Ελλάδα, Київ']) {
      assert.ok(text.replace(/\s+/g, ' ').includes(line), `${line} is not in ${text}`);
    }
    assert.match(text.replace(/\s+/g, ' '), /ქართული; fi ffl 1 ?\/ ?1/);
  },
);

test('a PDF of letters that it cannot show is refused, unless these are in names that are left out', async () => {
  await using environment = await openEnvironment([{ start: 0, end: 1, text: 'Hello', speaker: '日本' }]);
  const { read } = environment;

  const refused = await read({ format: 'pdf' });
  const withoutNames = await read({ format: 'pdf', speakers: 'false' });

  assert.deepEqual([refused.status, refused.json.error.param], [409, 'format']);
  assert.match(refused.json.error.message, /cannot show 2 of the characters of this transcript, such as 日 本\. Ask/);
  assert.equal((await contentOf(withoutNames)).subarray(0, 5).toString(), '%PDF-');
});

test('a document of a long transcript has all of its text, on many pages', withPdftotext, async () => {
  const segments = Array.from({ length: 600 }, (_, index) => ({
    start: index * 30,
    end: index * 30 + 29,
    speaker: index % 2 === 0 ? 'A' : 'B',
    text: `This is sentence ${index} of a talk in which somebody speaks for a while.`,
  }));
  await using environment = await openEnvironment(segments);

  const input = await contentOf(await environment.read({ format: 'pdf' }));
  const docx = await contentOf(await environment.read({ format: 'docx' }));

  const text = execFileSync('pdftotext', ['-layout', '-', '-'], { input, encoding: 'utf8' });
  const xml = readZipEntry(docx, 'word/document.xml').toString();
  for (const { text: sentence } of segments) assert.ok(text.includes(sentence) && xml.includes(sentence), sentence);
  assert.ok(text.split('\f').length > 10);
});
