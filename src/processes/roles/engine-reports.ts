import { type Absence, EngineError } from '../../engines/engine.ts';
import { reportEngine } from '../../jobs/api/engine-store.ts';
import { countQueued, type PlanReport, reportWaits } from '../../jobs/waiting/wait-store.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { RoleStatus } from '../messages.ts';
import type { Engines } from './open-engines.ts';
import type { RoleContext } from './role.ts';

type Context = Pick<RoleContext, 'clock' | 'db' | 'log' | 'report' | 'metrics'> & Pick<RoleContext['order'], 'holder'>;

type About = {
  /** The speaker model works. */
  canDiarize: boolean;
  isStorageAway(): boolean;
};

const LOOK_EVERY_MS = 500;

/** Reports whether the engines work: to /readyz, to the metrics, and to all nodes by way of the database. */
export class EngineReports {
  readonly #engines: Engines;
  readonly #context: Context;
  readonly #about: About;
  /** The engines' names and features as they were last reported. */
  readonly #reported = new Map<Plan, string>();

  constructor(engines: Engines, context: Context, about: About) {
    this.#engines = engines;
    this.#context = context;
    this.#about = about;
  }

  /** Reports at each change and every 5 s, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    let reported: string | null = null;
    let reportedAtMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const isStorageAway = this.#about.isStorageAway();
      const key =
        isStorageAway + JSON.stringify(PLANS.map((plan) => this.#engines[plan].absence()?.cause.message ?? null));
      if (key !== reported || clock.now() - reportedAtMs >= BOUNDS.reportPlansEveryMs) {
        reported = key;
        reportedAtMs = clock.now();
        await this.#report();
      }
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  /** The seconds for which each plan's engine has been away, for the metrics. */
  measure(): void {
    const { metrics, clock } = this.#context;
    for (const plan of PLANS) {
      const absence = this.#engines[plan].absence();
      metrics.engineAwaySeconds.set({ plan }, absence === null ? 0 : (clock.now() - absence.sinceMs) / 1000);
    }
  }

  async #report(): Promise<void> {
    const { db, log, report, holder } = this.#context;
    const queued = await this.#store(db, holder).catch((err: unknown) => {
      log.warn({ err }, 'could not report whether the engines work');
      return new Map<Plan, number>();
    });
    const about = [...new Set(PLANS.map((plan) => this.#engines[plan].name))].join(', ');
    report({ ...this.#status(queued), about });
  }

  /** Returns how many jobs of each plan are queued, while an engine is away. */
  async #store(db: Context['db'], holder: string): Promise<Map<Plan, number>> {
    const present = PLANS.filter((plan) => this.#engines[plan].absence() === null);
    for (const plan of present) {
      const engine = this.#engines[plan];
      const described = JSON.stringify([engine.name, engine.features]);
      if (this.#reported.get(plan) === described) continue;
      await reportEngine(db, plan, engine, this.#about.canDiarize);
      this.#reported.set(plan, described);
    }
    const isStorageAway = this.#about.isStorageAway();
    const reports = PLANS.map(
      (plan): PlanReport => ({
        plan,
        waitingFor: isStorageAway ? 'storage' : waitingFor(this.#engines[plan].absence()),
      }),
    );
    await reportWaits(db, holder, reports);
    if (present.length === PLANS.length) return new Map();
    return new Map((await countQueued(db)).map(({ plan, jobs }) => [plan, jobs]));
  }

  #status(queued: Map<Plan, number>): RoleStatus {
    const absences = PLANS.flatMap((plan) => {
      const absence = this.#engines[plan].absence();
      return absence === null ? [] : [{ plan, absence }];
    });
    const distinct = Map.groupBy(absences, ({ absence }) => absence);
    const reasons = [...distinct].map(([{ cause, sinceMs }, plans]) => {
      const jobs = plans.reduce((sum, { plan }) => sum + (queued.get(plan) ?? 0), 0);
      return `${cause.message} Since ${new Date(sinceMs).toISOString()}; ${jobs} jobs of ${named(plans)} wait.`;
    });
    const details = [...distinct.keys()].map(({ cause }) => describeWithCauses(cause));
    return { ready: reasons.length === 0, reasons, ...(details.length > 0 && { details }) };
  }
}

function waitingFor(absence: Absence | null): PlanReport['waitingFor'] {
  if (absence === null) return null;
  return absence.cause.failure.kind === 'model' ? 'model' : 'engine';
}

function named(plans: { plan: Plan }[]): string {
  return plans.map(({ plan }) => plan).join(' and ');
}

function describeWithCauses(error: unknown): string {
  const { message = String(error), cause } = (error ?? {}) as Partial<Error>;
  const own = error instanceof EngineError ? message : message.slice(0, 500);
  return cause === undefined ? own : `${own} (${describeWithCauses(cause)})`;
}
