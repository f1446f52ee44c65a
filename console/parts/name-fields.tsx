import { TextField } from '../ui/field.tsx';

const MAX_TITLE_CHARS = 200;
const MAX_TAGS_CHARS = 1_000;

/** The fields of a job's title and tags. @param unnamed  what names the job without a title */
export function NameFields({ unnamed }: { unnamed: string }) {
  return (
    <>
      <TextField label="Title" name="title" dir="auto" maxLength={MAX_TITLE_CHARS} hint={`Empty: ${unnamed}.`} />
      <TextField
        label="Tags"
        name="tags"
        dir="auto"
        maxLength={MAX_TAGS_CHARS}
        placeholder="board, 2026"
        hint="At most 10, with commas between them."
      />
    </>
  );
}

/** Words of a text, separated by commas or lines; none is empty. */
export function listOf(text: string): string[] {
  const words = text.split(/[,\n]/).map((word) => word.trim());
  return words.filter((word) => word !== '');
}
