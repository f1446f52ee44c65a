import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api } from '../../../api/client.ts';
import { BROADCAST, type CaptionForm, captionParams } from '../../../parts/captions/caption-form.ts';
import { type Cue, readCaptions } from './read-captions.ts';

const TYPING_PAUSE_MS = 350;

/** The captions of a job in the chosen form, as the service makes them. */
export type JobCaptions = {
  form: CaptionForm;
  setForm(change: Partial<CaptionForm>): void;
  /** The file; null while it loads. */
  text: string | null;
  cues: readonly Cue[];
  error: unknown;
  refetch(): void;
};

/** @param version  changes with the transcript @param isShown  nothing is loaded until then */
export function useCaptions(id: string, version: unknown, isShown: boolean): JobCaptions {
  const [form, setForm] = useState(BROADCAST);
  const { format, ...params } = captionParams(useSettled(form));
  const { data, error, refetch } = useQuery({
    queryKey: ['job', id, 'captions', format, params, version],
    queryFn: ({ signal }) => api.jobs.transcript(id, format, params, { signal }),
    enabled: isShown,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const cues = useMemo(() => (data === undefined ? [] : readCaptions(data, format)), [data, format]);
  return {
    form,
    cues,
    error,
    text: data ?? null,
    setForm: (change) => setForm((before) => ({ ...before, ...change })),
    refetch: () => void refetch(),
  };
}

/** A value, once it has been the same for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
