import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { killOne, type Victim } from '../faults/service-under-load.ts';
import { descendantsOf, isAlive } from '../fixtures/processes/process-list.ts';
import type { Random } from '../fixtures/random.ts';
import { until } from '../fixtures/until.ts';
import { type Cluster, type ClusterNode, SPOKEN } from './cluster.ts';
import type { PowerDisk } from './power/power-disk.ts';

/** What goes wrong, for a time, with one of the nodes or what they share. `begin` gives what ends it. */
export type Fault = {
  name: string;
  begin(cluster: Cluster, node: ClusterNode, random: Random): Promise<() => Promise<void>>;
  /** How long it lasts at least, in seconds; a kill lasts until the node is ready again. */
  seconds?: number;
};

// Longer than a job's lease, 12 s: the other node takes over what the stopped one holds.
const STOPPED_SECONDS = 14;
// Long enough for jobs under way to look for their audio, and for the engine's calls to be waited for.
const AWAY_SECONDS = 5;
const APART_MS = 700;
const KILLED_MS = 120_000;

/** Cuts the power of the disk that has all files of the cluster, as often as it is in the list. */
export function powerCut(disk: PowerDisk): Fault {
  return {
    name: 'power cut',
    async begin({ nodes, postgres }, _node, random) {
      const database = postgres.pid();
      const pids = nodes.flatMap((node) => node.pids());
      pids.push(database, ...descendantsOf(database).map(({ pid }) => pid));
      // The processes first: an answer after the cut could not be kept.
      for (const pid of pids) killOne(pid);
      await until('the end of every process', () => !pids.some(isAlive), KILLED_MS);
      await disk.cut(random.integer(2 ** 31));
      return async () => {
        await disk.restore();
        await postgres.startAgain();
      };
    },
  };
}

const nothing = async () => undefined;

function kill(name: string, victim: Victim): Fault {
  return {
    name: `kill -9 of ${name}`,
    async begin(_cluster, node) {
      for (const pid of node.pids(victim)) killOne(pid);
      return nothing;
    },
  };
}

/** Every fault, each once in a round. On one or two cores, transcriber and deliverer are one process. */
export const FAULTS: readonly Fault[] = [
  kill('a node', 'everything'),
  kill('http', 'http'),
  kill('the transcriber', 'transcriber'),
  kill('the deliverer', 'deliverer'),
  {
    name: 'SIGSTOP of a node',
    seconds: STOPPED_SECONDS,
    async begin(_cluster, node) {
      const stopped = node.pids();
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
      return async () => {
        for (const pid of stopped) process.kill(pid, 'SIGCONT');
      };
    },
  },
  {
    name: 'kill -9 of PostgreSQL',
    async begin({ postgres }) {
      process.kill(postgres.pid(), 'SIGKILL');
      return () => postgres.startAgain();
    },
  },
  {
    name: 'restart of PostgreSQL',
    async begin({ postgres }) {
      await postgres.stop();
      return () => postgres.startAgain();
    },
  },
  {
    name: 'connections to PostgreSQL cut',
    async begin(cluster) {
      await cluster.cutConnections();
      await pause(APART_MS);
      await cluster.cutConnections();
      return nothing;
    },
  },
  {
    name: 'audio storage moved away and back',
    seconds: AWAY_SECONDS,
    async begin({ audioDir }, _node, random) {
      const away = `${audioDir}.away`;
      renameSync(audioDir, away);
      // As a mount point without its disk, or as no folder at all.
      if (random.next() < 0.5) mkdirSync(audioDir, { mode: 0o700 });
      return async () => {
        rmSync(audioDir, { recursive: true, force: true });
        renameSync(away, audioDir);
      };
    },
  },
  {
    name: 'an engine that gives nothing',
    seconds: AWAY_SECONDS,
    async begin({ engine }) {
      engine.answerAll('hold');
      return async () => {
        engine.answerAll(SPOKEN);
        engine.answerHeld(SPOKEN);
      };
    },
  },
];
