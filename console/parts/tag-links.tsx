import type { ReactNode } from 'react';

/** The address of the list of the jobs with a tag. @param filters  of the list, which stay */
function listOf(tag: string, filters: Readonly<Record<string, string>>): string {
  const { show: _panel, ...kept } = filters;
  return `#/jobs?${new URLSearchParams({ ...kept, tag })}`;
}

/**
 * Tags, each a link to the list of the jobs that have it.
 * @param filters  of the list, which stay
 * @param after    what stands behind a tag, such as a button that removes it
 */
export function TagLinks({
  tags,
  filters = {},
  after,
  children,
}: {
  tags: readonly string[];
  filters?: Readonly<Record<string, string>>;
  after?: (tag: string) => ReactNode;
  children?: ReactNode;
}) {
  return (
    <ul className="tags" aria-label="Tags">
      {tags.map((tag) => (
        <li key={tag} className="tag">
          <a href={listOf(tag, filters)} dir="auto">
            {tag}
          </a>
          {after?.(tag)}
        </li>
      ))}
      {children}
    </ul>
  );
}
