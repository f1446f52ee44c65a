import type { Overview } from '#sdk/api.ts';
import { Badge } from '../ui/badge.tsx';

type Engine = Overview['engines'][number];

/** The engine of a plan, marked where its text has many wrong words. */
export function EngineName({ engine, quality }: Pick<Engine, 'engine' | 'quality'>) {
  return (
    <>
      <code>{engine}</code> {quality === 'fallback' && <Badge tone="wait">fallback: mishears many words</Badge>}
    </>
  );
}
