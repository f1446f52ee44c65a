import { type ReactNode, useEffect, useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { session } from '../session/session.ts';
import { useStore } from '../session/store.ts';
import { typed } from '../text/command.ts';
import { Button } from './button.tsx';
import { Code } from './copy.tsx';

// What a view shows in place of its content.
//
//   <Query of={query}>{(job) => …}</Query>     the content of a query, or that it loads, or its error
//   <Loading />
//   <Problem error={error} retry={refetch} />  as the API says it; a 429 counts down, then tries again
//   <Empty title="No jobs yet" command="transcribe call.mp3">…</Empty>

/** The parts of a query of TanStack Query that are shown. */
type QueryState<Value> = { data: Value | undefined; error: unknown; refetch: () => unknown };

/** Data that was loaded before stays while a later request fails; the error is shown above it. */
export function Query<Value>({
  of,
  skeleton = <Loading />,
  children,
}: {
  of: QueryState<Value>;
  /** Takes the place of the content while it loads. */
  skeleton?: ReactNode;
  children: (value: Value) => ReactNode;
}) {
  const { data, error, refetch } = of;
  return (
    <>
      {error !== null && error !== undefined && <Problem error={error} retry={() => void refetch()} />}
      {data !== undefined ? children(data) : !error && skeleton}
    </>
  );
}

/** Appears after a moment, so that quick answers do not flicker. */
export function Loading() {
  return (
    <p className="loading" role="status">
      Loading…
    </p>
  );
}

/**
 * An error, with its type and the request id for whoever uses the API or reports the error. Whoever is about to sign in
 * sees the sentence alone, unless the service failed.
 * @param retry  absent: no button
 * @param isPlain  the sentence alone for whoever is signed in, too
 */
export function Problem({
  error,
  retry,
  isPlain = false,
}: {
  error: unknown;
  retry?: () => void;
  isPlain?: boolean | undefined;
}) {
  const { message, type, requestId, isOfService, retryAfterSeconds } = problemOf(error);
  const { account, admin } = useStore(session);
  const seconds = useCountdown(error, retryAfterSeconds, retry);
  return (
    <div className="notice problem" role="alert">
      <p>{message}</p>
      {(type || requestId) && (((account || admin) && !isPlain) || isOfService) && (
        <p className="details">
          {type && <code>{type}</code>} {requestId && <code>{requestId}</code>}
        </p>
      )}
      {retry && (
        <Button disabled={seconds > 0} onClick={retry}>
          {seconds > 0 ? `Again in ${seconds} s` : 'Try again'}
        </Button>
      )}
    </div>
  );
}

/** Seconds until the API takes the next request; at the end it is repeated by itself. */
function useCountdown(error: unknown, startSeconds: number | null, onEnd?: () => void): number {
  const [left, setLeft] = useState({ error, seconds: startSeconds ?? 0 });
  const seconds = left.error === error ? left.seconds : (startSeconds ?? 0);
  useEffect(() => {
    if (seconds <= 0) return;
    const timer = setTimeout(() => {
      setLeft({ error, seconds: seconds - 1 });
      if (seconds === 1) onEnd?.();
    }, 1_000);
    return () => clearTimeout(timer);
  }, [error, seconds, onEnd]);
  return seconds;
}

/** An empty list: why, and the one command that fills it. @param command  the words after `verbatim` */
export function Empty({
  title,
  command,
  children,
}: {
  title: string;
  command?: string | undefined;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
      {command && <Code text={typed(command)} label="Command" />}
    </div>
  );
}
