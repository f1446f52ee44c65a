import type { Statement } from '../database.ts';

/**
 * A statement with named parameters, such as `$accountId`; prepared once per connection. For statements that are
 * composed of parts in several folders: each part names its parameters, and their values are given together. A part is
 * given the SQL of what it depends on, such as its condition, and exports the SQL by which others depend on it: no part
 * names another's CTE. The returned function throws when a value is missing.
 */
export function defineStatement(
  options: Pick<Statement, 'name' | 'isBrief'>,
  text: string,
): (values: Record<string, unknown>) => Statement {
  const parameters: string[] = [];
  const numbered = text.replace(/\$([a-z]\w*)/gi, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return (values) => ({
    ...options,
    text: numbered,
    values: parameters.map((parameter) => requireValue(values, parameter)),
  });
}

function requireValue(values: Record<string, unknown>, parameter: string): unknown {
  const value = values[parameter];
  if (value === undefined) throw new Error(`the parameter $${parameter} has no value`);
  return value;
}
