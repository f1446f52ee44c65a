import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

type Attribute = { key: string; value: { stringValue?: string } };
type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string; attributes: Attribute[] };
type Batch = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
};

/** A collector of OpenTelemetry: keeps the spans that come by OTLP over HTTP, and the names of their services. */
async function openCollector() {
  const spans: Span[] = [];
  const services = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { resourceSpans } = JSON.parse(text) as Batch;
    assert.equal(request.url, '/v1/traces');
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue);
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    services,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a collector gets the spans of a request, its job, the engine call and the delivery, as one trace', async () => {
  await using collector = await openCollector();
  await using receiver = await openReceiver();
  await using speech = await openSpeechServer({
    body: JSON.stringify({ text: 'one', language: 'english', duration: 1 }),
  });
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  await using service = await openService(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ENGINE_LITE: `openai:${speech.baseUrl}`,
      ENGINE_PRO: `openai:${speech.baseUrl}`,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
    },
    dataDir,
  );
  const { key } = await service.account();
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(toneWav('one'))]), 'a.wav');
  const hook = { url: receiver.url, events: ['transcription.completed'] };
  await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(hook),
  });

  const headers = { 'x-api-key': key, traceparent: `00-${TRACE_ID}-${CALLER}-01` };
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
  const { id } = (await answer.json()) as { id: string };
  const sent = await receiver.waitFor(1);
  const find = (name: string) =>
    until(`the span ${name}`, () => collector.spans.find((span) => span.traceId === TRACE_ID && span.name === name));
  const request = await find('POST /v1/transcribe');
  const job = await find('job');
  const call = await find('engine call');
  const attempt = await find('delivery attempt');

  assert.equal(answer.status, 200);
  assert.deepEqual(
    [request.parentSpanId, job.parentSpanId, call.parentSpanId, attempt.parentSpanId],
    [CALLER, request.spanId, job.spanId, request.spanId],
  );
  for (const span of [request, job, call, attempt]) {
    assert.equal(span.attributes.find(({ key: name }) => name === 'job_id')?.value.stringValue, id, span.name);
  }
  assert.equal(sent.headers['traceparent'], `00-${TRACE_ID}-${attempt.spanId}-01`);
  assert.equal(speech.requests.at(-1)!.traceparent, `00-${TRACE_ID}-${call.spanId}-01`);
  assert.deepEqual([...collector.services], ['verbatim']);
  assert.equal(
    collector.spans.some(({ name }) => name.includes('/readyz')),
    false,
  );
});

// prom-client loads the interfaces alone, @opentelemetry/api.
test('the library of OpenTelemetry is loaded only where a collector is named', () => {
  const program = `
    import { createRequire } from 'node:module';
    for (const role of ['api', 'janitor', 'transcriber', 'deliverer']) await import('./src/processes/roles/' + role + '.ts');
    const { openTracer } = await import('./src/platform/tracing/open-tracer.ts');
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => /@opentelemetry.(sdk|exporter)/.test(file));
    await openTracer(null);
    const without = loaded();
    await openTracer('http://127.0.0.1:9');
    console.log(JSON.stringify([without, loaded()]));
    process.exit();`;
  const cwd = new URL('../..', import.meta.url);

  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', cwd });

  assert.deepEqual(JSON.parse(output), [false, true]);
});
