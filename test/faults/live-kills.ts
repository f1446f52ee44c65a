import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { STREAMING_TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { randomFrom } from '../fixtures/random.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { type Account, openAccount } from './clients.ts';
import { countViolations, drained, type Findings, type Seen } from './history.ts';
import type { KillRun } from './kills.ts';
import { type SpokenSession, speak, speechOf } from './live-sessions.ts';
import { type DatabaseKind, LIVE_VICTIMS, openServiceUnderLoad } from './service-under-load.ts';

export type LiveKillReport = {
  kind: DatabaseKind;
  seed: number;
  killed: Record<string, number>;
  sessions: number;
  connections: number;
  /** Segments without text because the engine was killed twice while it decoded them. */
  segmentsFailed: number;
  /** Sentences; none is allowed. */
  violations: string[];
  findings: Findings;
  seconds: number;
};

type Script = { plan: 'lite' | 'pro'; audio: Uint8Array; expected: SpokenSession };

const SESSIONS_AT_ONCE = 4;
const PHRASES = 4;
const MAX_PAUSE_MS = 600;
const ACK_MS = 60_000;
// Credits for a minute on pro; lite costs half.
const CREDITS = { lite: 1, pro: 2 };

/**
 * Kills processes of a service at random times while clients hold live sessions and resume them, and compares what each
 * client got with an undisturbed session of the same audio.
 */
export async function runLiveKills({ kind, seed, kills, onKill }: KillRun): Promise<LiveKillReport> {
  const startedAtMs = performance.now();
  const random = randomFrom(seed);
  const seen: Seen[] = [];
  await using receiver = await openReceiver({
    reply(request) {
      seen.push({ request, status: 204 });
      return { status: 204 };
    },
  });
  // One plan's engine transcribes the open segment again and again, the other's streams.
  const env = { ENGINE_LIVE_PRO: `sherpa-onnx:${STREAMING_TONE_MODEL}`, RATE_LIMIT_LIVE: 'off' };
  await using service = await openServiceUnderLoad(kind, receiver, env);
  const account = await openAccount(service, receiver);
  const accepted = new Map<string, Account>();
  const violations: string[] = [];
  const total = { acks: 0, sessions: 0, connections: 0, segmentsFailed: 0 };
  const begin = async (script: Pick<Script, 'plan' | 'audio'>, sessionSeed: number) => {
    const onAck = () => void (total.acks += 1);
    const order = { ...script, key: account.key, random: randomFrom(sessionSeed), onAck };
    const spoken = await speak(() => service.baseUrl, order);
    accepted.set(spoken.jobId, account);
    return spoken;
  };
  const scripts: Script[] = [];
  for (const plan of ['lite', 'pro', 'lite', 'pro'] as const) {
    const audio = speechOf(PHRASES, random);
    scripts.push({ plan, audio, expected: await begin({ plan, audio }, seed) });
  }

  const stopping = new AbortController();
  const work = async (worker: number) => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const script = scripts[(worker + turn) % scripts.length]!;
      const spoken = await begin(script, seed * 1_000_003 + worker * 10_007 + turn);
      total.sessions += 1;
      total.connections += spoken.connections;
      total.segmentsFailed += segmentsFailed(spoken);
      violations.push(...differences(spoken, script).map((what) => `${spoken.jobId}: ${what}`));
    }
  };
  const working = Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, (_, worker) => work(worker)));
  const killed: Record<string, number> = {};
  const killing = async () => {
    for (let number = 0; number < kills; ) {
      const before = total.acks;
      await until('an acknowledgement', () => total.acks > before, ACK_MS);
      await pause(random.next() * MAX_PAUSE_MS);
      const victim = random.pick(LIVE_VICTIMS);
      if (!(await service.kill(victim))) continue;
      killed[victim] = (killed[victim] ?? 0) + 1;
      number += 1;
      onKill?.(number, victim);
    }
    stopping.abort();
  };
  await Promise.all([working, killing().finally(() => stopping.abort())]);
  await service.recovered();

  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  try {
    await drained(db);
    const findings = await countViolations(db, accepted, seen);
    const seconds = Math.round((performance.now() - startedAtMs) / 1000);
    const { acks: _, ...counts } = total;
    return { kind, seed, killed, ...counts, violations, findings, seconds };
  } finally {
    await db.close();
  }
}

/** What is not allowed in a report, as sentences. */
export function liveKillProblems({ violations, findings, killed }: LiveKillReport): string[] {
  const { repeatedDeliveries, ...zeros } = findings;
  const problems = Object.entries(zeros).flatMap(([name, count]) => (count === 0 ? [] : [`${name}: ${count}`]));
  const kills = Object.values(killed).reduce((sum, count) => sum + count, 0);
  if (repeatedDeliveries > 16 * kills) problems.push(`repeatedDeliveries: ${repeatedDeliveries}`);
  return [...violations, ...problems];
}

function segmentsFailed({ job }: SpokenSession): number {
  return job.warnings.filter(({ code }: { code: string }) => code === 'segment_failed').length;
}

/** Where a session differs from an undisturbed one of the same audio. */
function differences(spoken: SpokenSession, { plan, audio, expected }: Script): string[] {
  const { job, segments } = spoken;
  const found = [...spoken.violations];
  if (job.status !== 'completed') found.push(`the job is ${job.status}`);
  if (segmentsFailed(spoken) === 0) {
    if (job.text !== expected.job.text) found.push(`the text is "${job.text}", not "${expected.job.text}"`);
    const missed = segments.find((segment, at) => JSON.stringify(segment) !== JSON.stringify(expected.segments[at]));
    if (missed) found.push(`segment ${missed.seq} is not that of an undisturbed session`);
  }
  const seconds = audio.length / 32_000;
  if (Math.abs(job.audio.duration_seconds - seconds) > 0.001)
    found.push(`${job.audio.duration_seconds} s of ${seconds}`);
  const cost = Math.round((Math.floor(seconds * 1000) / 60_000) * CREDITS[plan] * 1e6) / 1e6;
  if (Math.abs(job.cost - cost) > 1e-6) found.push(`the cost is ${job.cost}, not ${cost}`);
  return found;
}
