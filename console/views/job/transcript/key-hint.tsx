import { KEYS } from '../player/keys.ts';

/** How the transcript is used; all keys are listed on demand. */
export function KeyHint() {
  return (
    <details className="hint">
      <summary>Click a word to go to it. Space plays and pauses, J and L move 10 s. All keys</summary>
      <dl className="keys">
        {KEYS.map(({ label, means }) => (
          <div key={label}>
            <dt>
              <kbd>{label}</kbd>
            </dt>
            <dd>{means}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>find</dd>
        </div>
      </dl>
    </details>
  );
}
