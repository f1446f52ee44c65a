import { EngineError } from '../engine.ts';

const SHOWN_MAX = 20;
const NAME_MAX_LENGTH = 100;

/** The names in the body of `GET /v1/models`; null when it lists none, as of a server that loads any model. */
export function modelNames(body: string): string[] | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return null;
  }
  const list = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(list)) return null;
  const ids = list.map((entry: { id?: unknown } | null) => entry?.id);
  const names = ids.filter((id): id is string => typeof id === 'string' && id !== '');
  return names.length > 0 ? names : null;
}

/**
 * The server has other models than the one that is named. Clients and /readyz show the message; the names, and what the
 * server answered, are in the causes: for the log and the operator.
 */
export function unknownModel(model: string, names: readonly string[], cause: EngineError): EngineError {
  const shown = names.slice(0, SHOWN_MAX).map((name) => name.slice(0, NAME_MAX_LENGTH));
  const rest = names.length - shown.length;
  const others = new Error(`its models: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`, { cause });
  const message =
    `The speech server does not have the model ${model}. Name one of its models in ENGINE_LITE or ENGINE_PRO; ` +
    'the log and GET /admin/v1/readiness list them.';
  return new EngineError('engine_error', message, { cause: others, failure: { kind: 'start' } });
}
