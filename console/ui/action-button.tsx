import { type ReactNode, useState } from 'react';
import { Button, type ButtonProps } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Problem } from './state.tsx';

// Buttons of requests.
//
//   <ActionButton act={() => api.…}>Send a test</ActionButton>        runs a request: busy meanwhile, its error beside
//   it <ConfirmButton title="Erase 3 jobs?" confirm="Erase" act={…}>Erase</ConfirmButton>   asks before it acts

type ActionProps = Omit<ButtonProps, 'onClick'> & {
  /** The request; an error that it throws is shown under the button. */
  act: () => Promise<unknown>;
  /** For people who need not know the API: an error is its sentence alone. */
  isPlain?: boolean;
};

/** A button for a request. It cannot be pressed again while the request runs. */
export function ActionButton({ act, disabled, isPlain, children, ...rest }: ActionProps) {
  const { isBusy, error, run } = useAction(act);
  return (
    <span className="action">
      <Button {...rest} disabled={disabled} isBusy={isBusy} onClick={run}>
        {children}
      </Button>
      {error !== null && <Problem error={error} isPlain={isPlain} />}
    </span>
  );
}

/** A button for what cannot be undone: a dialog asks first. */
export function ConfirmButton({
  title,
  confirm,
  text,
  act,
  isPlain,
  children,
  ...rest
}: ActionProps & {
  /** The question. */
  title: string;
  /** On the button that acts: the verb. */
  confirm: string;
  /** What will happen. */
  text?: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const { isBusy, error, run, clear } = useAction(async () => {
    await act();
    setOpen(false);
  });
  const close = () => {
    setOpen(false);
    clear();
  };
  return (
    <>
      <Button look="danger" {...rest} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog isOpen={isOpen} title={title} onClose={close}>
        {text && <p>{text}</p>}
        {error !== null && <Problem error={error} isPlain={isPlain} />}
        <div className="actions">
          <Button look="danger" isBusy={isBusy} onClick={run}>
            {confirm}
          </Button>
          <Button onClick={close}>Keep</Button>
        </div>
      </Dialog>
    </>
  );
}

/** Runs a request on demand, one at a time, and keeps its error. */
export function useAction(act: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run: () => void run(), clear: () => setError(null) };
}
