import type { MessageBudgets } from '../http/websocket/message-budgets.ts';
import type { ControlRuntime } from '../jobs/api/control.ts';
import type { Callers } from './key-caller.ts';
import type { LiveHost } from './live-host.ts';

/** What the endpoints of live sessions run on. */
export type LiveApi = ControlRuntime & { host: LiveHost; callers: Callers; budgets: MessageBudgets };
