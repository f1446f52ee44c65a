import { preferences, setPreference } from '../../session/preferences.ts';
import { useStore } from '../../session/store.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField } from '../../ui/field.tsx';
import type { NavigationEntry } from './entries.ts';
import { SHORTCUTS } from './shortcuts.ts';

/** The list of shortcuts, with the switch for those that are single keys. */
export default function ShortcutSheet({
  onClose,
  entries,
}: {
  onClose: () => void;
  entries: readonly NavigationEntry[];
}) {
  const { shortcuts } = useStore(preferences);
  return (
    <Dialog isOpen title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {SHORTCUTS.map(([keys, meaning]) => (
          <Key key={keys} keys={keys} meaning={meaning} />
        ))}
        {entries.map(({ letter, label }) => (
          <Key key={letter} keys={`g ${letter}`} meaning={label} />
        ))}
      </dl>
      <CheckField
        label="Single-key shortcuts"
        hint="Without them only Ctrl K works."
        checked={shortcuts}
        onChange={(event) => setPreference({ shortcuts: event.target.checked })}
      />
    </Dialog>
  );
}

function Key({ keys, meaning }: { keys: string; meaning: string }) {
  return (
    <div>
      <dt>
        <kbd>{keys}</kbd>
      </dt>
      <dd>{meaning}</dd>
    </div>
  );
}
