import { type ReactNode, use, useEffect, useRef } from 'react';
import { PlaceContext } from '../router/place.ts';

// The frame of a view.
//
//   <Page title="Jobs" actions={<Button …/>} crumbs={[{ to: '/jobs', label: 'Jobs' }]}>…</Page>
//   <Section title="Details">…</Section>      a titled part of a view, on a card
//   <Facts rows={[['Plan', 'pro'], …]} />     names and values

type Crumb = { href: string; label: string };

let focusedPath: string | null = null;

/** The next view gets the focus, also when the address remains: after the sign-in, which stood in its place. */
export function focusNextPage(): void {
  focusedPath = '';
}

/**
 * A view: its title, which becomes that of the tab and gets the focus after a change of the address, and its content.
 */
export function Page({
  title,
  tabTitle = typeof title === 'string' ? title : undefined,
  beside,
  actions,
  crumbs = [],
  children,
}: {
  title: ReactNode;
  /** Absent: the title, where that is a string. */
  tabTitle?: string | undefined;
  /** Directly after the title. */
  beside?: ReactNode;
  actions?: ReactNode;
  crumbs?: Crumb[];
  children: ReactNode;
}) {
  const { path, isPanel } = use(PlaceContext);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The focus stays in the list.
    if (isPanel) return;
    // At the first load the focus stays at the start of the page; filters change the address without its path.
    if (focusedPath !== null && focusedPath !== path) heading.current?.focus({ preventScroll: true });
    focusedPath = path;
  }, [path, isPanel]);
  if (isPanel)
    return (
      <>
        <div className="head">
          <TitleRow beside={beside}>
            <h2>{title}</h2>
          </TitleRow>
          {actions && <div className="actions">{actions}</div>}
        </div>
        {children}
      </>
    );
  return (
    <>
      <title>{tabTitle ? `${tabTitle} · Verbatim` : 'Verbatim'}</title>
      {crumbs.length > 0 && (
        <nav className="crumbs" aria-label="Breadcrumb">
          {crumbs.map(({ href, label }) => (
            <a key={href} href={`#${href}`}>
              {label}
            </a>
          ))}
        </nav>
      )}
      <div className="head">
        <TitleRow beside={beside}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </TitleRow>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** The same element with and without something beside the title, which keeps the focus when that comes later. */
function TitleRow({ beside, children }: { beside: ReactNode; children: ReactNode }) {
  return (
    <div className="title-row">
      {children}
      {beside}
    </div>
  );
}

/** A titled part of a view. */
export function Section({
  title,
  actions,
  children,
}: {
  title?: string | undefined;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="card" aria-label={title}>
      {title && (
        <div className="head">
          <h2>{title}</h2>
          {actions && <div className="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Names and values; a row whose value is null, undefined or false is left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(
        ([name, value]) =>
          value !== null &&
          value !== undefined &&
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
