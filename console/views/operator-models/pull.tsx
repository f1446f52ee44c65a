import { useQueryClient } from '@tanstack/react-query';
import type { ModelPull } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { typed } from '../../text/command.ts';
import { byteSize } from '../../text/format.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Section } from '../../ui/page.tsx';

/** The pull that runs, with its progress; how the last one ended. */
export function Pull({ pull, host }: { pull: ModelPull; host: string }) {
  const { model, status, done_bytes: done, total_bytes: total, message } = pull;
  const refresh = useRefresh();
  if (status === 'running') {
    const cancel = async () => {
      await operator.cancelPull(model);
      await refresh();
    };
    return (
      <Section title={`Pulling ${model}`} actions={<ActionButton act={cancel}>Cancel</ActionButton>}>
        <progress aria-label={`Pulling ${model}`} max={total} value={done} />
        <p role="status">
          {byteSize(done)} of {byteSize(total)}, {Math.floor((100 * done) / total)} %{speedOf(pull)}
        </p>
        <p className="hint">Cancel removes what was downloaded.</p>
      </Section>
    );
  }
  if (status === 'canceled') return <p role="status">The pull of {model} was canceled.</p>;
  if (status === 'failed') {
    return (
      <section className="notice problem" role="alert">
        <p>
          <strong>{model} was not pulled.</strong> {message}
        </p>
        <p className="hint">The next pull of {model} resumes where this one ended.</p>
      </section>
    );
  }
  return (
    <Section title={`${model} is on ${host}`}>
      <p>
        The service uses it within seconds, for the languages that no model above it in the list knows. This setting
        uses it for all:
      </p>
      <Code label="Setting" text={`ENGINE_PRO=sherpa-onnx:${model}`} />
      <p className="hint">
        Remove it with <code>{typed(`models remove ${model}`)}</code>.
      </p>
    </Section>
  );
}

/** @param isBusy  another model is pulled */
export function PullButton({ name, isBusy }: { name: string; isBusy: boolean }) {
  const refresh = useRefresh();
  const pull = async () => {
    await operator.pullModel(name);
    await refresh();
  };
  return (
    <ActionButton act={pull} disabled={isBusy} aria-label={`Pull ${name}`}>
      Pull
    </ActionButton>
  );
}

function useRefresh() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['operator', 'models'] });
}

/** Since the start of the pull, so that a resumed one seems faster for a moment. */
function speedOf({ done_bytes: done, total_bytes: total, started_at: startedAt }: ModelPull): string {
  const seconds = (Date.now() - Date.parse(startedAt)) / 1_000;
  const perSecond = done / seconds;
  if (seconds < 2 || perSecond < 1) return '';
  const left = Math.ceil((total - done) / perSecond);
  const time = left < 60 ? `${left} s` : `${Math.ceil(left / 60)} min`;
  return `, ${byteSize(perSecond)}/s, ${time} left`;
}
