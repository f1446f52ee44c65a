import type { DeliveryWithExchange, SignatureDiagnosis } from '#sdk/api.ts';
import { explainSignature } from '#sdk/webhooks/explain/explain-signature.ts';
import type { Framework } from '#sdk/webhooks/explain/frameworks.ts';

type Question = {
  secret: string;
  headers: Record<string, string[]>;
  body: string;
  /** Null: as the answer of the attempt says; without that, the age is not checked. */
  receivedAt: number | null;
  framework: Framework | null;
  /** The attempt, where it is known. */
  attempt: DeliveryWithExchange | null;
  headerPrefix: string;
};

type Headers = Record<string, string | string[]>;

/** What the API's diagnosis says, found in the browser: the secret is not sent. */
export function explainHere({ attempt, ...question }: Question): SignatureDiagnosis {
  const { difference, ...explanation } = explainSignature({ ...question, ...sentAndAnswered(attempt) });
  if (!difference) return { ...explanation, difference: null };
  const { sentBytes, receivedBytes, ...rest } = difference;
  return { ...explanation, difference: { ...rest, sent_bytes: sentBytes, received_bytes: receivedBytes } };
}

function sentAndAnswered(attempt: DeliveryWithExchange | null) {
  const { request = null, response = null, completed_at = null } = attempt ?? {};
  return {
    sent: request && request.body !== null ? { headers: request.headers as Headers, body: request.body } : null,
    answer:
      response && completed_at ? { headers: response.headers as Headers, receivedAt: Date.parse(completed_at) } : null,
  };
}
