import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { Client } from 'undici';
import { exchangeError } from './exchange-error.ts';

/** The error of a POST to a server that sends these bytes. */
async function errorOf(answer: string): Promise<Error> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client(`http://127.0.0.1:${(server.address() as net.AddressInfo).port}`);
  try {
    return await client.request({ method: 'POST', path: '/', body: 'x' }).then(
      () => assert.fail('it is an answer'),
      (error) => exchangeError(error),
    );
  } finally {
    await client.destroy();
    server.close();
  }
}

const ROWS: [what: string, answer: string, message: string][] = [
  ['line ends of LF alone', 'HTTP/1.1 200 OK\nA: b\n\n', ': Missing expected CR after response line.'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n', ': Duplicate Content-Length.'],
  [
    'a length with chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    ': what follows its Content-Length cannot be read, such as a Transfer-Encoding.',
  ],
  ['another protocol', '220 mail.example.com ESMTP\r\n', ': it does not begin with HTTP/1.1.'],
];
for (const [what, answer, message] of ROWS) {
  test(`an answer with ${what} is reported with what is wrong in it`, async () => {
    assert.equal((await errorOf(answer)).message, `The receiver's answer is not valid HTTP${message}`);
  });
}
