import type { Account } from '../../../src/accounts/account.ts';
import type { Sql } from '../../../src/db/database.ts';
import { NOTHING_REQUESTED } from '../../../src/jobs/job.ts';
import { LiveHost } from '../../../src/live/live-host.ts';
import { type Clock, makeId } from '../../../src/platform/clock.ts';
import { TEST_KEY_ID } from '../../fixtures/caller.ts';
import { noisySpeech } from '../../fixtures/live.ts';
import { clockOf, type Environment, newActor, SETTINGS, STORAGE } from '../environment.ts';
import type { Node } from '../nodes.ts';
import { SESSION_OPTIONS } from './session-options.ts';
import { type Cuts, Speaker, type Spoken } from './speaker.ts';

const SECONDS = { least: 3, more: 22 };
/** The clients of live sessions, on a machine of their own. */
export class LiveClients {
  readonly actor = newActor('speaker');
  readonly spoken: Spoken[] = [];
  readonly cuts: Cuts = { rate: 0 };
  readonly #environment: Environment;
  readonly #admin: Sql;
  readonly #nodes: () => Node[];
  readonly #clock: Clock;
  /** For what the endpoint that begins a session does. */
  readonly #host: LiveHost;

  constructor(environment: Environment, admin: Sql, nodes: () => Node[]) {
    this.#environment = environment;
    this.#admin = admin;
    this.#nodes = nodes;
    this.#clock = clockOf(this.actor, environment.simulator);
    this.#host = new LiveHost({
      db: environment.server.open(this.actor),
      config: SETTINGS,
      storage: STORAGE,
    } as unknown as ConstructorParameters<typeof LiveHost>[0]);
  }

  /** Begins a session, whose client then speaks. The id of its job. */
  async begin(account: Account): Promise<string> {
    const { random } = this.#environment.simulator;
    const id = makeId('job');
    const request = { ...NOTHING_REQUESTED, plan: 'lite' as const };
    const audio = Buffer.from(noisySpeech(random, SECONDS.least + random.integer(SECONDS.more)));
    const spoken = { id, account, audio, lost: [] };
    this.spoken.push(spoken);
    const caller = { account, keyId: TEST_KEY_ID, traceparent: null };
    const session = { ...caller, request, options: SESSION_OPTIONS, tokenHash: null };
    await this.#host.create(id, session, async () => undefined);
    const [nodes, cuts] = [this.#nodes, this.cuts];
    const speaker = new Speaker(
      this.#environment,
      { actor: this.actor, clock: this.#clock, admin: this.#admin },
      { spoken, nodes, cuts },
    );
    void speaker.speak();
    return id;
  }
}
