import { OPENAI_SAMPLES } from './table.ts';
import { queryOf, requestOf, type SampledOperation } from './wire.ts';

const AUTHORIZATION = {
  key: '-H "X-API-Key: $VERBATIM_API_KEY"',
  admin: '-H "Authorization: Bearer $ADMIN_TOKEN"',
  session: '-b "verbatim_session=$SESSION" -H "X-Session-Id: $SESSION_ID" -H "Origin: $VERBATIM_URL"',
  none: null,
};

/** The operation as a command for a shell. */
export function curlSample(operation: SampledOperation): string {
  const { method, id, auth, isUpload, isStream } = operation;
  const { path, fields } = requestOf(operation);
  const isQuery = method === 'GET';
  const body = isUpload ? formOf(id, fields) : isQuery || Object.keys(fields).length === 0 ? [] : jsonOf(fields);
  const isImplied = isQuery || (method === 'POST' && body.length > 0);
  const head = [
    'curl',
    isStream && '-N',
    !isImplied && `-X ${method}`,
    `"$VERBATIM_URL${path}${isQuery ? queryOf(fields) : ''}"`,
  ];
  return [head.filter(Boolean).join(' '), AUTHORIZATION[auth], ...body].filter(Boolean).join(' \\\n  ');
}

function jsonOf(fields: object): string[] {
  return ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(fields))}`];
}

function formOf(id: string, fields: object): string[] {
  const all = Object.entries(id in OPENAI_SAMPLES ? { model: 'pro' } : fields).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.map((each) => `${name}=${typeof each === 'object' ? JSON.stringify(each) : each}`);
  });
  return ['-F file=@call.mp3', ...all.map((field) => `-F ${/^[\w=.-]+$/.test(field) ? field : quote(field)}`)];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
