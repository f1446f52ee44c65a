import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OwnAccount } from '#sdk/api.ts';
import { systemClock } from '#sdk/client/http/clock.ts';
import type { StreamOptions, Verbatim } from '#sdk/client/index.ts';
import { action, type Io, type Session } from '../command.ts';
import { consoleAddress } from '../commands/account/open.ts';
import { UsageError } from '../exit.ts';
import { commaList, repeated, time } from '../options.ts';
import { startBrowser } from '../terminal/browser.ts';
import { Forwarder } from './delivery/forwarder.ts';
import { type Post, post } from './delivery/post.ts';
import { probe, watchTargets } from './delivery/probe.ts';
import { readTargets, type Targets } from './delivery/targets.ts';
import { isEventFrame, runListener } from './listener.ts';
import { chooseSecret } from './secret.ts';
import { openPositionFile, readState, stateFile, writeState } from './state-file.ts';
import { editEvent } from './view/edit-event.ts';
import { openJsonView } from './view/json-view.ts';
import { KeptEvents, type Keys, readKeys, sendAgain } from './view/keys.ts';
import { openLineView } from './view/line-view.ts';
import { screenKeys } from './view/screen-keys.ts';
import { ScreenView } from './view/screen-view.ts';
import type { View } from './view/view.ts';

type Options = {
  forwardTo?: string;
  route?: string[];
  types?: string[];
  webhook?: string;
  since?: string;
  resume?: boolean;
  retry: keyof typeof RETRY_DELAYS_MS;
  fail: number;
  secret?: string;
  newSecret?: boolean;
  printSecret?: boolean;
  tui?: boolean;
};

/** The waits before the attempts after the first. `production`: as the service waits. */
const RETRY_DELAYS_MS = { none: [], fast: [1_000, 2_000, 4_000], production: [30_000, 300_000, 1_800_000] };

/** `verbatim listen` */
export function define(command: Command, io: Io): void {
  const retries = Object.keys(RETRY_DELAYS_MS);
  command
    .option('--forward-to <target>', 'send events there: a URL, or HOST:PORT/PATH')
    .option('--route <type=target>', 'send events of this type there; may be repeated', repeated)
    .option('--types <types>', 'only events of these types, separated by commas', commaList)
    .option('--webhook <webhook>', 'only events of the types of this webhook, and only its resends')
    .option('--since <time>', 'begin with events of the past: a time, or how long ago, such as 1h', time)
    .option('--resume', 'go on where the last run of this profile has ended')
    .addOption(new Option('--retry <how>', 'send again what fails').choices(retries).default('none'))
    .option('--fail <part>', 'let this part of the attempts fail, 0 to 1, to test retries', part, 0)
    .option('--secret <file>', 'sign with the secret in this file; .env:NAME for one of its variables')
    .option('--new-secret', 'make a new secret and keep it')
    .option('--print-secret', 'print the secret and end')
    .option('--tui', 'a screen on which events are selected, shown, edited and sent again')
    .action(action<[], Options>(io, listen));
}

async function listen(session: Session, options: Options): Promise<void> {
  const { io, out } = session;
  if (options.since !== undefined && options.resume) throw new UsageError('Use either --since or --resume.');
  const { url, profile } = session.connection();
  const file = stateFile(io.env, profile);
  const state = readState(file);
  const chosen = chooseSecret({ from: options.secret, renew: options.newSecret === true }, io.env, state);
  const kept = chosen.isNew ? { ...state, secret: chosen.secret } : state;
  if (chosen.isNew) writeState(file, kept);
  if (options.printSecret) return out.show({ json: { secret: chosen.secret }, ids: [], lines: [[chosen.secret]] });
  const targets = readTargets(options.forwardTo, options.route ?? []);
  const client = await session.client();
  const hasKeys = io.stdin.isTTY === true && out.stdout.isTTY === true && out.mode === 'text';
  if (options.tui && !(hasKeys && out.stderr.isTTY)) {
    throw new UsageError('--tui needs a terminal, without --json and --quiet.');
  }
  const account = await waitForAccount(client, session);
  const after = options.resume ? resumeId(session, kept.position, url) : options.since;
  using screen = options.tui ? new ScreenView(out) : null;
  const lines = screen ?? openLineView(out, { hasKeys });
  const view = out.mode === 'json' ? openJsonView(out, lines) : lines;
  view.start({ account, targets: targets.describe(), secret: chosen.secret, secretSource: chosen.source });
  using positions = openPositionFile(file, kept, url, systemClock);
  await forwardAll(session, options, {
    client,
    targets,
    view,
    screen,
    hasKeys,
    after,
    signing: { secret: chosen.secret, headerPrefix: account.webhook_header_prefix },
    onPosition: (id) => positions.save(id),
  });
}

/** Waits for a service that is not there yet. */
async function waitForAccount(client: Verbatim, { out, io, connection }: Session): Promise<OwnAccount> {
  let isReported = false;
  const retrying = client.with({
    onRequest({ status }) {
      if (status === null && !isReported)
        out.note({ text: `no answer from ${connection().url}: trying again`, style: 'yellow' });
      isReported ||= status === null;
    },
  });
  return await retrying.account({ signal: io.signal, maxRetries: Number.POSITIVE_INFINITY });
}

function resumeId(
  { out }: Session,
  position: { url: string; resumeId: string } | null,
  url: string,
): string | undefined {
  if (position?.url === url) return position.resumeId;
  out.note('No earlier run of this profile at this service: events from now on are shown.');
  return undefined;
}

type Run = {
  client: Verbatim;
  targets: Targets;
  view: View;
  /** With --tui. */
  screen: ScreenView | null;
  hasKeys: boolean;
  after: string | undefined;
  signing: { secret: string; headerPrefix: string };
  onPosition(resumeId: string): void;
};

async function forwardAll(session: Session, options: Options, run: Run): Promise<void> {
  const { io } = session;
  const { client, targets, view, signing, after } = run;
  const kept = new KeptEvents();
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const forwarder = new Forwarder({
    targets,
    signing,
    post: post as Post,
    clock: systemClock,
    random: Math.random,
    signal,
    retryDelaysMs: RETRY_DELAYS_MS[options.retry],
    failShare: options.fail,
    onAttempt(attempt) {
      kept.add(attempt);
      view.attempt(attempt);
    },
  });
  const quit = () => stop.abort();
  using _keys = run.screen
    ? readScreenKeys(session, run.screen, { forwarder, targets, quit })
    : run.hasKeys
      ? readKeys(io.stdin, { r: () => kept.resend(forwarder), q: quit })
      : null;
  const watch = watchTargets(targets.hosts(), {
    clock: systemClock,
    signal,
    probe,
    onChange: (host, isUp) => view.target(host, isUp),
  });
  await watch.first;
  const webhook = options.webhook === undefined ? null : await client.webhooks.get(options.webhook, { signal });
  const types = (options.types ?? webhook?.events) as StreamOptions['types'];
  const onConnection: StreamOptions['onConnection'] = (state) => view.connection(state);
  const frames = client.stream({ topics: ['events'], types, after, signal, onConnection });
  try {
    await runListener({
      frames,
      forwarder,
      webhookId: webhook?.id ?? null,
      onPosition: run.onPosition,
      onFrame: (frame) => view.frame(frame, isEventFrame(frame) && targets.urlFor(frame.data.type) !== null),
    });
  } catch (error) {
    // The user has pressed q.
    if (!stop.signal.aborted) throw error;
  } finally {
    stop.abort();
  }
}

function readScreenKeys(
  session: Session,
  screen: ScreenView,
  { forwarder, targets, quit }: { forwarder: Forwarder; targets: Targets; quit(): void },
): Keys {
  const { stdin, env } = session.io;
  const keys: Keys = readKeys(
    stdin,
    screenKeys(screen, {
      send(event) {
        if (targets.urlFor(event.type) === null)
          throw new UsageError(`No target for ${event.type}: give --forward-to.`);
        sendAgain(forwarder, event);
      },
      edit: (event) => keys.suspend(() => editEvent(event, env)),
      open: ({ id }) => startBrowser(consoleAddress(session, id), env),
      quit,
    }),
  );
  return keys;
}

function part(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return value;
}
