/** An engine as ENGINE_LITE and ENGINE_PRO name it. */
export type EngineSpec =
  | { kind: 'sherpa-onnx'; model: string }
  | { kind: 'openai'; baseUrl: string; model: string | null };

/** The spec that a setting's text names, or a phrase that follows the setting's name in an error message. */
export function engineSpec(text: string | null): { value: EngineSpec } | { mistake: string } {
  const [, kind, rest] = /^(sherpa-onnx|openai):(.+)$/.exec(text ?? '') ?? [];
  if (kind === 'sherpa-onnx' && rest) return { value: { kind, model: rest } };
  if (kind === 'openai' && rest && URL.canParse(rest) && /^https?:\/\//.test(rest)) {
    const [baseUrl, model] = rest.split('#');
    return { value: { kind, baseUrl: baseUrl!.replace(/\/+$/, ''), model: model || null } };
  }
  return { mistake: 'must be sherpa-onnx:<model or folder> or openai:<base url>[#model]' };
}
