import { useEffect, useState } from 'react';
import { useAccount, useBalance } from '../../api/queries.ts';
import { pause, queue, removeSent, resume } from '../../parts/uploads/upload-queue.ts';
import { useStore } from '../../session/store.ts';
import { clockTime, credits } from '../../text/format.ts';
import { Button } from '../../ui/button.tsx';
import type { OptionValues } from './options.ts';

/** What the uploads that are ready will cost, and the buttons that start and pause. */
export function SendBar({ values, problem }: { values: OptionValues; problem: string | null }) {
  const { uploads, isPaused, blockedUntilMs } = useStore(queue);
  const wait = useSecondsUntil(blockedUntilMs);
  const ready = uploads.filter(({ state }) => state === 'ready');
  const isActive = uploads.some(({ state }) => ['waiting', 'sending', 'paused'].includes(state));
  return (
    <div className="send-bar">
      {ready.length > 0 && <Cost seconds={ready.map((upload) => upload.seconds)} values={values} />}
      {problem && (
        <p className="notice problem" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        {ready.length > 0 && (
          <Button type="submit" look="primary" disabled={problem !== null}>
            Transcribe {ready.length} {ready.length === 1 ? 'file' : 'files'}
          </Button>
        )}
        {isActive && <Button onClick={isPaused ? resume : pause}>{isPaused ? 'Continue' : 'Pause'}</Button>}
        {uploads.some(({ state }) => state === 'sent') && <Button onClick={removeSent}>Clear sent files</Button>}
        {wait > 0 && isActive && (
          <span role="timer">The limit of uploads per minute is reached. Uploads continue in {wait} s.</span>
        )}
      </div>
    </div>
  );
}

function Cost({ seconds, values }: { seconds: (number | null)[]; values: OptionValues }) {
  const account = useAccount().data;
  const canReadBalance = account?.scopes.includes('usage:read') ?? false;
  const balance = useBalance(canReadBalance).data;
  const plan = values['plan'] || account?.plan;
  if (!balance || (plan !== 'lite' && plan !== 'pro')) return null;
  const known = seconds.filter((length) => length !== null);
  const unknown = seconds.length - known.length;
  const total = known.reduce((sum, length) => sum + length, 0);
  const cost = (total / 60) * balance.rates[plan];
  const isTooMuch = balance.amount !== null && cost > balance.amount;
  return (
    <p className={isTooMuch ? 'cost wrong' : 'cost'}>
      {clockTime(total)} of audio cost {values['multichannel'] === 'on' ? 'at least ' : ''}
      <strong>{credits(cost)} credits</strong> on {plan}
      {unknown > 0 && `, plus ${unknown} ${unknown === 1 ? 'file' : 'files'} of unknown length`}
      {balance.amount !== null && `; the balance is ${credits(balance.amount)}`}.
      {isTooMuch && ' The balance does not cover all files.'}
    </p>
  );
}

function useSecondsUntil(timeMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (timeMs === 0) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 500);
    return () => clearInterval(timer);
  }, [timeMs]);
  return Math.max(0, Math.ceil((timeMs - nowMs) / 1_000));
}
