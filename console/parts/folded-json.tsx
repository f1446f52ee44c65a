import { useMemo, useState } from 'react';
import { Copy } from '../ui/copy.tsx';
import { countLines, type JsonLine, nestLines } from './json-lines.ts';

// Parts with more lines than this are closed at first.
const MAX_OPEN_LINES = 24;
const OPEN_LEVELS = 3;

/**
 * JSON whose objects and lists open and close; long lists are closed at first.
 * @param text   as `prettyJson` writes it
 * @param label  for screen readers
 */
export function FoldedJson({ text, label }: { text: string; label: string }) {
  const lines = useMemo(() => nestLines(text), [text]);
  return (
    <section className="folded" aria-label={label}>
      <Copy text={text} what={label} />
      <Lines lines={lines} depth={0} />
    </section>
  );
}

function Lines({ lines, depth }: { lines: readonly JsonLine[]; depth: number }) {
  return lines.map((line, index) =>
    line.end === null ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
      <p key={index} className="line">
        <Text text={line.text} />
      </p>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
      <Fold key={index} line={line} depth={depth} />
    ),
  );
}

/** Short parts, and the objects of the first levels, which have named members. */
function isOpenAtFirst({ text, inside }: JsonLine, depth: number): boolean {
  return countLines(inside) <= MAX_OPEN_LINES || (depth < OPEN_LEVELS && text.endsWith('{'));
}

/** What is closed is not in the page: a transcript has many thousand words. */
function Fold({ line, depth }: { line: JsonLine; depth: number }) {
  const { text, inside, end } = line;
  const [isOpen, setOpen] = useState(isOpenAtFirst(line, depth));
  const unit = text.endsWith('[') ? ['entry', 'entries'] : ['member', 'members'];
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Text text={text} />
        {!isOpen && (
          <span className="soft">
            {' '}
            {inside.length} {inside.length === 1 ? unit[0] : unit[1]} {end}
          </span>
        )}
      </summary>
      {isOpen && (
        <>
          <Lines lines={inside} depth={depth + 1} />
          <p className="line end">{end}</p>
        </>
      )}
    </details>
  );
}

function Text({ text }: { text: string }) {
  const [, key, rest] = /^("(?:[^"\\]|\\.)*"): (.*)$/s.exec(text) ?? [];
  if (key === undefined) return <>{text}</>;
  return (
    <>
      <span className="key">{key}</span>: {rest}
    </>
  );
}
