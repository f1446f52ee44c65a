import type { MetricsSnapshot, ToChild } from './messages.ts';

const TIMEOUT_MS = 2_000;

type Request<Member> = {
  from: Member;
  requestId: number;
  waitingFor: Set<Member>;
  snapshots: MetricsSnapshot[];
};

/** Requests for the metrics of all processes: each is answered when all processes have answered, or after 2 s. */
export class MetricsRequests<Member> {
  readonly #send: (member: Member, message: ToChild) => void;
  readonly #requests = new Map<number, Request<Member>>();
  #nextId = 1;

  constructor(send: (member: Member, message: ToChild) => void) {
    this.#send = send;
  }

  start(from: Member, requestId: number, members: Member[]): void {
    const id = this.#nextId++;
    this.#requests.set(id, { from, requestId, waitingFor: new Set(members), snapshots: [] });
    for (const member of members) this.#send(member, { kind: 'metrics-wanted', requestId: id });
    setTimeout(() => this.#finish(id), TIMEOUT_MS).unref();
  }

  add(member: Member, id: number, snapshot: MetricsSnapshot): void {
    const request = this.#requests.get(id);
    if (request?.waitingFor.has(member)) request.snapshots.push(snapshot);
    this.#stopWaiting(member, id);
  }

  /** The member ended: no request waits for its metrics any more. */
  leaveOut(member: Member): void {
    for (const id of this.#requests.keys()) this.#stopWaiting(member, id);
  }

  #stopWaiting(member: Member, id: number): void {
    const request = this.#requests.get(id);
    if (request?.waitingFor.delete(member) && request.waitingFor.size === 0) this.#finish(id);
  }

  #finish(id: number): void {
    const request = this.#requests.get(id);
    if (!request) return;
    this.#requests.delete(id);
    const { from, requestId, snapshots } = request;
    this.#send(from, { kind: 'metrics-of-all', requestId, snapshots });
  }
}
