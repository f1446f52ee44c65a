import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type AllowedTarget, isPublicAddress } from './address.ts';
import { MAX_URL_CHARS, parseAudioUrl, parseWebhookUrl } from './url-guard.ts';

const LOOPBACK_8443: AllowedTarget = { address: '127.0.0.1', prefixBits: 32, port: 8443 };
const PRIVATE_443: AllowedTarget = { address: '10.0.0.0', prefixBits: 8, port: null };
const TOO_LONG_PATH = `https://example.com/${'a'.repeat(MAX_URL_CHARS - 19)}`;
const LONGEST_PATH = `https://example.com/${'a'.repeat(MAX_URL_CHARS - 20)}`;
const LONG_LABEL = 'a'.repeat(64);
const LONG_NAME = `${`${'a'.repeat(63)}.`.repeat(3)}${'b'.repeat(61)}`;

function verdictOf(raw: unknown, allowed: AllowedTarget[] = []): string {
  const verdict = parseWebhookUrl(raw, allowed);
  return verdict.kind === 'ok' ? `ok ${verdict.target.href}` : 'refused';
}

const ACCEPTED: [raw: string, href: string][] = [
  ['https://example.com', 'https://example.com/'],
  ['https://example.com/', 'https://example.com/'],
  ['https://example.com/a/b?c=d&e=f', 'https://example.com/a/b?c=d&e=f'],
  ['https://example.com?x', 'https://example.com/?x'],
  ['https://example.com/#fragment', 'https://example.com/'],
  ['https://example.com/#', 'https://example.com/'],
  ['https://example.com#@x', 'https://example.com/'],
  ['https://example.com/a@b', 'https://example.com/a@b'],
  ['https://example.com/?to=a@b:c', 'https://example.com/?to=a@b:c'],
  ['HTTPS://EXAMPLE.COM/Path', 'https://example.com/Path'],
  ['https://example.com:443/', 'https://example.com/'],
  ['https://example.com:0443/', 'https://example.com/'],
  ['https://example.com:/', 'https://example.com/'],
  ['https://example.com./', 'https://example.com/'],
  ['https://example.com.:443/', 'https://example.com/'],
  ['https://ex%61mple.com/', 'https://example.com/'],
  ['https://ｅｘａｍｐｌｅ.com/', 'https://example.com/'],
  ['https://example。com/', 'https://example.com/'],
  ['https://example．com/', 'https://example.com/'],
  ['https://example｡com/', 'https://example.com/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ['https://_dmarc.my-host_1.example.com/', 'https://_dmarc.my-host_1.example.com/'],
  ['https://example.com/ü', 'https://example.com/%C3%BC'],
  ['https://example.com/../a/./b', 'https://example.com/a/b'],
  ['https://example.com/%2e%2e/a', 'https://example.com/a'],
  ['https://8.8.8.8/hook', 'https://8.8.8.8/hook'],
  ['https://134744072/', 'https://8.8.8.8/'],
  ['https://0x8.0x8.0x8.0x8/', 'https://8.8.8.8/'],
  ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
  ['https://[2606:4700:4700:0:0:0:0:1111]/', 'https://[2606:4700:4700::1111]/'],
  ['https://[::ffff:8.8.8.8]/', 'https://[::ffff:808:808]/'],
  ['https://[64:ff9b::8.8.8.8]/', 'https://[64:ff9b::808:808]/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['https://notlocalhost.com/', 'https://notlocalhost.com/'],
  ['https://local.example.com/', 'https://local.example.com/'],
  ['https://127.0.0.1.nip.io/', 'https://127.0.0.1.nip.io/'],
  [LONGEST_PATH, LONGEST_PATH],
  [`https://${LONG_NAME}/`, `https://${LONG_NAME}/`],
];

for (const [raw, href] of ACCEPTED) {
  test(`accepted: ${raw.slice(0, 70)}`, () => {
    assert.equal(verdictOf(raw), `ok ${href}`);
    assert.equal(verdictOf(href), `ok ${href}`, 'what is stored is accepted again, unchanged');
  });
}

const NOT_TEXT: unknown[] = [undefined, null, 1, true, {}, [], ['https://example.com'], new URL('https://example.com')];

test('anything but a string is refused', () => {
  assert.deepEqual(
    NOT_TEXT.filter((raw) => verdictOf(raw) !== 'refused'),
    [],
  );
});

/** URLs between white space; none of them holds any. */
function spellings(list: string): string[] {
  return list.trim().split(/\s+/);
}

const REFUSED: Record<string, string[]> = {
  'no https': [
    ...spellings(`
    example.com //example.com /path http://example.com HTTP://example.com ftp://example.com ws://example.com
    wss://example.com javascript:alert(1) data:text/plain,x file:///etc/passwd httpss://example.com https https:
    https:/ https:example.com https:/example.com blob:https://example.com/x view-source:https://example.com
    https+unix://example.com ｈttps://example.com`),
    '',
    'h ttps://x.example',
  ],
  'no host': [
    ...spellings(`
    https:// https:/// https:///example.com https:////example.com https://?x https://#x https://:443/ https://./
    https://../`),
  ],
  credentials: [
    ...spellings(`
    https://user:pass@example.com/ https://user@example.com/ https://:pass@example.com/ https://@example.com/
    https://:@example.com/ https://example.com@127.0.0.1/ https://127.0.0.1@example.com/ https://a@b@example.com/
    https://user%40x@example.com/ https://example.com:443@10.0.0.1/ https://example.com%40127.0.0.1/`),
  ],
  ports: [
    ...spellings(`
    https://example.com:80/ https://example.com:8443/ https://example.com:0/ https://example.com:65535/
    https://example.com:65536/ https://example.com:4430/ https://example.com:-443/ https://example.com:4a3/
    https://example.com:443:443/ https://8.8.8.8:8443/ https://[2606:4700::1]:8443/`),
  ],
  'spaces, controls, backslashes': [
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa mple.com/',
    'https://example.com/a b',
    'https://example.com/?a b',
    '\thttps://example.com/',
    'https://exam\tple.com/',
    'https://example.com/\r\nX-Evil: 1',
    'ht\ntps://example.com/',
    'https://example.com/\n',
    'https://example.com\\@127.0.0.1/',
    'https:\\\\example.com/',
    'https://example.com\\.evil.example/',
    'https:/\\example.com/',
    'https://example.com/\u0000',
    'https://exa\u0000mple.com/',
    'https://example.com/\u007f',
    'https://example.com/\u0085',
    'https://example.com/\u001f',
  ],
  'invisible and unpaired characters': [
    'https://exam\u00adple.com/',
    'https://local\u00adhost/',
    'https://exam\u200bple.com/',
    'https://exam\u2060ple.com/',
    'https://exam\ufeffple.com/',
    'https://exam\u200dple.com/',
    'https://exam\u200cple.com/',
    'https://example.com/\u202etxt',
    'https://example.com/\u2066a',
    'https://example.com/\u00a0',
    'https://example.com/\u3000',
    'https://example.com/\u2028',
    'https://example.com/\ud800',
    'https://example.com/\udc00',
    'https://example.com/\u2007',
  ],
  'names that no DNS holds': [
    ...spellings(`
    https://example..com/ https://.example.com/ https://example.com../ https://127.0.0.1../ https://*.example.com/
    https://{x}.example.com/ https://$(id).example.com/ https://a'b.example.com/ https://a!b.example.com/
    https://a,b.example.com/ https://a~b.example.com/ https://a=b.example.com/ https://a&b.example.com/
    https://a+b.example.com/ https://a;b.example.com/ https://example.com%00.evil.example/
    https://example.com%2f.evil.example/ https://example.com%23/ https://example.com%3a80/ https://exa%20mple.com/
    https://exa<mple.com/ https://exa|mple.com/ https://exa^mple.com/ https://exa[mple.com/ https://%/
    https://example.com／evil/ https://example.com：80/ https://example.com＠evil.example/ https://℀.example.com/
    https://1.2.3.4.5/ https://x.0x1/ https://256.256.256.256/ https://example.1/ https://09.1.1.1/
    https://4294967296/`),
    `https://${LONG_LABEL}.example.com/`,
    `https://${LONG_NAME}.com/`,
  ],
  'loopback in every spelling': [
    ...spellings(`
    https://127.0.0.1/ https://127.1/ https://127.0.1/ https://2130706433/ https://0x7f000001/ https://017700000001/
    https://0x7f.0.0.1/ https://0177.0.0.1/ https://0177.0x0.0.01/ https://127.0.0.1./ https://127.127.127.127/
    https://127.0.0.1:443/ https://１２７.0.0.1/ https://①②⑦.⓪.⓪.①/ https://127。0。0。1/ https://127．0．0．1/
    https://127｡0｡0｡1/ https://%31%32%37.0.0.1/ https://0/ https://0.0.0.0/ https://00/ https://0x0/ https://0./
    https://0x/ https://0x7F.1/ https://1/ https://[::1]/ https://[0:0:0:0:0:0:0:1]/ https://[0000::0001]/
    https://[::]/ https://[::127.0.0.1]/ https://[::7f00:1]/ https://[::ffff:127.0.0.1]/ https://[::FFFF:7F00:1]/
    https://[0:0:0:0:0:ffff:127.0.0.1]/ https://[::ffff:0:127.0.0.1]/`),
  ],
  'private, link-local, reserved and embedded addresses': [
    ...spellings(`
    https://10.0.0.1/ https://10.1/ https://172.16.0.1/ https://192.168.1.1/ https://3232235777/ https://0xc0a80101/
    https://100.64.0.1/ https://198.18.0.1/ https://192.0.2.1/ https://203.0.113.1/ https://224.0.0.1/
    https://255.255.255.255/ https://240.0.0.1/ https://[fc00::1]/ https://[fd12:3456::1]/ https://[fe80::1]/
    https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/ https://[fec0::1]/ https://[ff02::1]/
    https://[64:ff9b::127.0.0.1]/ https://[64:ff9b::a00:1]/ https://[64:ff9b:1::8.8.8.8]/ https://[2002:7f00:1::]/
    https://[2002:808:808::]/ https://[2001:0:7f00:1::]/ https://[2001:db8::1]/ https://[3fff::1]/ https://[100::1]/
    https://[5f00::1]/ https://[200::1]/ https://[::ffff:10.0.0.1]/ https://[::ffff:a00:1]/
    https://[::ffff:192.168.0.1]/ https://[1::2::3]/ https://[]/ https://[8.8.8.8]/ https://[::1/`),
  ],
  'metadata of clouds': [
    ...spellings(`
    https://169.254.169.254/latest/meta-data/ https://0xa9fea9fe/ https://2852039166/ https://0251.0376.0251.0376/
    https://169.16689662/ https://169.254.170.2/ https://169.254.42.42/ https://100.100.100.200/
    https://192.0.0.192/ https://168.63.129.16/ https://2822734096/ https://[fd00:ec2::254]/ https://[fd20:ce::254]/
    https://[fe80::a9fe:a9fe]/ https://[::ffff:169.254.169.254]/ https://[64:ff9b::a9fe:a9fe]/
    https://[2002:a9fe:a9fe::]/ https://[::ffff:168.63.129.16]/ https://[64:ff9b::168.63.129.16]/
    https://metadata.google.internal/ https://METADATA.google.internal./ https://metadata.goog/ https://metadata/
    https://instance-data/ https://instance-data.ec2.internal/ https://metadata.tencentyun.com/
    https://metadata.packet.net/`),
  ],
  'names known only inside a network': [
    ...spellings(`
    https://localhost/ https://LOCALHOST/ https://localhost./ https://ｌｏｃａｌｈｏｓｔ/ https://loc%61lhost/
    https://ⓛocalhost/ https://app.localhost/ https://localhost.localdomain/ https://localhost6/
    https://ip6-localhost/ https://printer.local/ https://printer.LOCAL./ https://db.internal/
    https://wiki.intranet/ https://nas.lan/ https://router.home/ https://dc.corp/ https://vault.private/
    https://x.home.arpa/ https://postgres/ https://kubernetes/ https://com/ https://example/ https://x.onion/
    https://x.i2p/ https://x.invalid/ https://home.arpa/`),
  ],
  'too long': [TOO_LONG_PATH, `https://example.com/${'a/../'.repeat(500)}`, `https://example.com/${'ü'.repeat(400)}`],
};

for (const [why, list] of Object.entries(REFUSED)) {
  test(`refused: ${why}`, () => {
    assert.deepEqual(
      list.map((raw) => verdictOf(raw)),
      list.map(() => 'refused'),
    );
  });

  test(`opening a port or a network elsewhere does not help: ${why}`, () => {
    const elsewhere: AllowedTarget[] = [{ address: '9.9.9.9', prefixBits: 32, port: 9443 }];
    // Local names parse then; evaluateAddresses refuses them unless they lead into an opened network.
    const accepted = list.filter((raw) => {
      const verdict = parseWebhookUrl(raw, elsewhere);
      return verdict.kind === 'ok' && !verdict.target.isLocalName;
    });

    assert.deepEqual(accepted, []);
  });
}

const OPENED: [raw: string, expected: string][] = [
  ['https://127.0.0.1:8443/hook', 'ok https://127.0.0.1:8443/hook'],
  ['https://2130706433:8443/hook', 'ok https://127.0.0.1:8443/hook'],
  ['https://[::ffff:127.0.0.1]:8443/', 'ok https://[::ffff:7f00:1]:8443/'],
  ['https://localhost:8443/hook', 'ok https://localhost:8443/hook'],
  ['https://example.com:8443/', 'ok https://example.com:8443/'],
  ['https://10.2.3.4/', 'ok https://10.2.3.4/'],
  ['https://intern/', 'ok https://intern/'],
  ['https://example.com/', 'ok https://example.com/'],
  ['https://127.0.0.1/', 'refused'],
  ['https://127.0.0.2:8443/', 'refused'],
  ['https://8.8.8.8:8443/', 'refused'],
  ['https://10.2.3.4:8443/', 'refused'],
  ['https://127.0.0.1:8444/', 'refused'],
  ['https://[::1]:8443/', 'refused'],
  ['http://127.0.0.1:8443/', 'refused'],
  ['https://user:pass@127.0.0.1:8443/', 'refused'],
  ['https://169.254.169.254:8443/', 'refused'],
];

for (const [raw, expected] of OPENED) {
  test(`with 127.0.0.1/32:8443 and 10.0.0.0/8 opened, ${raw} is ${expected.split(' ')[0]}`, () => {
    assert.equal(verdictOf(raw, [LOOPBACK_8443, PRIVATE_443]), expected);
  });
}

test('the target says host, port, address and whether the name is local', () => {
  const describe = (raw: string) => {
    const verdict = parseWebhookUrl(raw, [LOOPBACK_8443]);
    assert.equal(verdict.kind, 'ok');
    return verdict.target;
  };

  assert.deepEqual(describe('https://Hooks.Example.com./a#b'), {
    href: 'https://hooks.example.com/a',
    hostname: 'hooks.example.com',
    port: 443,
    isTls: true,
    literal: null,
    isLocalName: false,
  });
  assert.deepEqual(describe('https://[2606:4700:0::1]/'), {
    href: 'https://[2606:4700::1]/',
    hostname: '2606:4700::1',
    port: 443,
    isTls: true,
    literal: '2606:4700::1',
    isLocalName: false,
  });
  assert.deepEqual(describe('https://LOCALHOST:8443'), {
    href: 'https://localhost:8443/',
    hostname: 'localhost',
    port: 8443,
    isTls: true,
    literal: null,
    isLocalName: true,
  });
});

const MESSAGES: [raw: unknown, message: RegExp][] = [
  [7, /must be a string/],
  [TOO_LONG_PATH, /at most 2048 characters/],
  ['http://example.com', /begin with https:\/\//],
  ['https:///x', /name a host/],
  ['https://u:p@example.com', /credentials/],
  ['https://example.com:8443', /port 443/],
  ['https://example.com/a b', /spaces/],
  ['https://exa<mple.com', /valid URL/],
  ['https://a..b', /letters, digits, dashes and dots/],
  ['https://localhost', /localhost/],
  ['https://10.0.0.1', /public addresses/],
];

for (const [raw, message] of MESSAGES) {
  test(`the refusal of ${String(raw).slice(0, 40)} names the rule`, () => {
    const verdict = parseWebhookUrl(raw, []);

    assert.equal(verdict.kind, 'refused');
    assert.match(verdict.message, message);
  });
}

test('whatever is accepted of 20,000 mangled URLs reads the same again and has no credentials or closed address', () => {
  const random = randomFrom(20_261_121);
  const pieces = [
    ...'https:// http:// @ : / \\ ? # [ ] % . .. 0x7f 127.0.0.1 10.0.0.1 8.8.8.8 ::1 ::ffff:'.split(' '),
    ...'localhost example.com 443 8443 a - _ ü ß 。 ０ ① %2e %00 %40 xn-- \t \u00ad user pass'.split(' '),
  ];
  const mangle = () => Array.from({ length: 1 + random.integer(7) }, () => random.pick(pieces)).join('');
  const raws = Array.from({ length: 20_000 }, () => `https://${mangle()}`);

  const accepted = raws.flatMap((raw) => {
    const verdict = parseWebhookUrl(raw, []);
    return verdict.kind === 'ok' ? [verdict.target] : [];
  });

  assert.ok(accepted.length > 500, `only ${accepted.length} were accepted: the test lost its bite`);
  for (const found of accepted) {
    const again = parseWebhookUrl(found.href, []);
    assert.deepEqual(again, { kind: 'ok', target: found });
    assert.match(found.href, /^https:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)\/[^#\s\\]*$/);
    assert.equal(found.literal, isIP(found.hostname) === 0 ? null : found.hostname);
    assert.ok(found.literal === null || isPublicAddress(found.literal));
    assert.notEqual(found.hostname, 'localhost');
  }
});

const PLAIN_80: AllowedTarget = { address: '10.0.0.0', prefixBits: 8, port: 80 };
const AUDIO: [raw: string, allowed: AllowedTarget[], expected: string][] = [
  ['https://example.com/a', [], 'ok https://example.com/a'],
  [`https://example.com/${'a'.repeat(4096 - 20)}`, [], `ok https://example.com/${'a'.repeat(4096 - 20)}`],
  [`https://example.com/${'a'.repeat(4096 - 19)}`, [], 'refused'],
  ['http://example.com/a', [], 'refused'],
  ['http://10.0.0.1/a', [], 'refused'],
  ['http://10.0.0.1/a', [PLAIN_80], 'ok http://10.0.0.1/a'],
  ['http://10.0.0.1:80/a', [PLAIN_80], 'ok http://10.0.0.1/a'],
  ['http://10.0.0.1:8080/a', [PLAIN_80], 'refused'],
  ['http://11.0.0.1/a', [PLAIN_80], 'refused'],
  ['http://8.8.8.8/a', [PLAIN_80], 'refused'],
  ['http://10.0.0.1:443/a', [PLAIN_80, PRIVATE_443], 'refused'],
  ['https://10.0.0.1:80/a', [PLAIN_80], 'ok https://10.0.0.1:80/a'],
  ['http://u:p@10.0.0.1/a', [PLAIN_80], 'refused'],
  ['ftp://10.0.0.1/a', [PLAIN_80], 'refused'],
  ['//10.0.0.1/a', [PLAIN_80], 'refused'],
];
for (const [raw, allowed, expected] of AUDIO) {
  test(`of audio, ${raw.slice(0, 40)} is ${expected.split(' ')[0]} with ${allowed.length} exceptions`, () => {
    const verdict = parseAudioUrl(raw, allowed);

    assert.equal(verdict.kind === 'ok' ? `ok ${verdict.target.href}` : 'refused', expected);
  });
}

test('whatever is refused for a webhook is refused for audio, but for its length', () => {
  const refused = Object.values(REFUSED).flat();

  assert.deepEqual(
    refused.filter((raw) => String(raw).length < 300 && parseAudioUrl(raw, []).kind === 'ok'),
    [],
  );
});
