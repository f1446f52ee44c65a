import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { keyValue } from '../../options.ts';

type SpeakerFlags = { name?: Record<string, string>; merge?: Record<string, string> };

/** `verbatim jobs speakers` */
export function defineSpeakers(command: Command, io: Io): void {
  command
    .command('speakers')
    .description('name the speakers of a transcript, or show one as another; without options, list them')
    .argument('<job>')
    .option('--name <label=name>', 'such as A=Anna; without a name, the label again; may be repeated', keyValue)
    .option('--merge <label=label>', 'B=A shows B as A; without a label, by itself again; may be repeated', keyValue)
    .action(action<[string], SpeakerFlags>(io, changeSpeakers));
}

async function changeSpeakers(session: Session, { name, merge }: SpeakerFlags, id: string): Promise<void> {
  const { jobs } = await session.client();
  if (name !== undefined) await jobs.nameSpeakers(id, emptyAsNull(name));
  if (merge !== undefined) await jobs.mergeSpeakers(id, emptyAsNull(merge));
  const { speakers } = await jobs.get(id);
  const { speakers: names = {}, merged_speakers: merged = {} } = await jobs.transcript(id);
  const rows = (speakers ?? []).map(({ id: label }) => {
    const shownAs = merged[label];
    return [label, shownAs === undefined ? (names[label] ?? '') : `as ${shownAs}`];
  });
  session.out.show({ json: session.answer(), ids: [id], lines: rows.map((row) => [row.join('  ').trimEnd()]) });
}

/** What the API takes away. */
function emptyAsNull(values: Record<string, string>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === '' ? null : value]));
}
