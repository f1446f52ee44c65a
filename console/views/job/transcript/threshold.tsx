const STEP = 0.05;

/** Below which confidence words are underlined, 0 to 1. */
export function Threshold({ value, onChange }: { value: number; onChange: (threshold: number) => void }) {
  return (
    <label className="threshold">
      <span>Underline words less sure than {Math.round(value * 100)} %</span>
      <input
        type="range"
        min={0}
        max={1}
        step={STEP}
        value={value}
        onChange={(event) => onChange(event.target.valueAsNumber)}
      />
    </label>
  );
}
