import { quote } from '../../text/request-code.ts';
import { ownerOfHeader } from './headers.ts';

type Request = { url: string; headers: Record<string, string | string[]>; body: string; headerPrefix: string };

// Of connections, and not of the event.
const LEFT_OUT = ['content-length', 'host', 'connection', 'user-agent', 'accept', 'accept-encoding'];

/**
 * Shell commands that post the event of an attempt again, signed with the time at which they run. They read the secret
 * into a variable, so that it is neither in the text nor among the arguments of a process.
 */
export function curlOf({ url, headers, body, headerPrefix }: Request): string {
  const all = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]);
  const kept = all.filter(([name]) => !isSigned(name, headerPrefix) && !LEFT_OUT.includes(name.toLowerCase()));
  const eventId = all.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1] ?? '';
  return [
    "printf 'Secret of the webhook: ' && read -rs WEBHOOK_SECRET && export WEBHOOK_SECRET",
    `printf '%s' ${quote(body)} > event.json`,
    `python3 - ${quote(eventId)} ${quote(headerPrefix)} <<'PYTHON' | curl --config - \\`,
    ...kept.map(([name, value]) => `  --header ${quote(`${name}: ${value}`)} \\`),
    `  --data-binary @event.json ${quote(url)}`,
    ...SIGN,
    'PYTHON',
    '',
  ].join('\n');
}

/** Signs as docs/webhooks.md says, and prints the headers as a configuration of curl. */
const SIGN = [
  'import base64, datetime, hashlib, hmac, os, sys',
  'event_id, prefix = sys.argv[1:]',
  'secret, body = os.environb[b"WEBHOOK_SECRET"], open("event.json", "rb").read()',
  'now = datetime.datetime.now(datetime.timezone.utc)',
  'time, seconds = now.strftime("%Y-%m-%dT%H:%M:%S.000Z"), str(int(now.timestamp()))',
  'own = hmac.new(secret, f"{time}.".encode() + body, hashlib.sha256).hexdigest()',
  'key = base64.b64decode(secret.removeprefix(b"whsec_"))',
  'standard = hmac.new(key, f"{event_id}.{seconds}.".encode() + body, hashlib.sha256).digest()',
  'for name, value in {prefix + "Timestamp": time, prefix + "Signature": own, "webhook-timestamp": seconds,',
  '    "webhook-signature": "v1," + base64.b64encode(standard).decode()}.items():',
  '    print(f\'header = "{name}: {value}"\')',
];

function isSigned(name: string, headerPrefix: string): boolean {
  const isOfService = ownerOfHeader(name, [], headerPrefix) === 'service';
  return isOfService && /(signature|signature-previous|timestamp)$/i.test(name);
}
