import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api } from '../../../api/client.ts';
import { BROADCAST, type CaptionForm, captionParams, isPlain, NO_SHAPE } from '../../../parts/captions/caption-form.ts';
import { type Cue, readCaptions } from './read-captions.ts';

const TYPING_PAUSE_MS = 350;

/** The captions of a job in the chosen form, as the service makes them. */
export type JobCaptions = {
  form: CaptionForm;
  setForm(change: Partial<CaptionForm>): void;
  /** The file; null while it loads. */
  text: string | null;
  cues: readonly Cue[];
  /** Broadcast and plain, for the player: the chosen one as the form has it. */
  screens: readonly (readonly Cue[])[];
  error: unknown;
  refetch(): void;
};

/** @param version  changes with the transcript @param isShown  nothing is loaded until then */
export function useCaptions(id: string, version: unknown, isShown: boolean): JobCaptions {
  const [form, setForm] = useState(BROADCAST);
  const settled = useSettled(form);
  const isChosenPlain = isPlain(settled);
  const { format, hasNames } = settled;
  const other = useCues(id, { ...(isChosenPlain ? BROADCAST : NO_SHAPE), format, hasNames }, version, isShown);
  const { data, cues, error, refetch } = useCues(id, settled, version, isShown);
  return {
    form,
    cues,
    screens: isChosenPlain ? [other.cues, cues] : [cues, other.cues],
    error,
    text: data ?? null,
    setForm: (change) => setForm((before) => ({ ...before, ...change })),
    refetch: () => void refetch(),
  };
}

function useCues(id: string, form: CaptionForm, version: unknown, isShown: boolean) {
  const { format, ...params } = captionParams(form);
  const { data, error, refetch } = useQuery({
    queryKey: ['job', id, 'captions', format, params, version],
    queryFn: ({ signal }) => api.jobs.transcript(id, format, params, { signal }),
    enabled: isShown,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const cues = useMemo(() => (data === undefined ? [] : readCaptions(data, format)), [data, format]);
  return { data, cues, error, refetch };
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
