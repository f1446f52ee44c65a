import { Pencil, Tag, X } from 'lucide-react';
import type { MouseEvent } from 'react';
import type { Job } from '#sdk/wire.ts';
import { useAccount } from '../../../api/queries.ts';
import { jobName } from '../../../parts/job-state.tsx';
import { TagLinks } from '../../../parts/tag-links.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/menu/icon-button.tsx';
import { PlaceField } from './place-field.tsx';
import { useChange } from './use-change.ts';

const MAX_TITLE_CHARS = 200;
const MAX_TAG_CHARS = 64;
const MAX_TAGS = 10;

/** What is edited now. */
export type Editing = 'title' | 'tag' | null;
type Editable = { job: Job; editing: Editing; setEditing: (editing: Editing) => void };

/** The name of a job, or the field that changes it, and its state. */
export function JobTitle({ job, editing, setEditing }: Editable) {
  const change = useChange(job.id);
  const close = () => setEditing(null);
  const save = (title: string) => void change({ title: title === '' ? null : title });
  return (
    <>
      {editing === 'title' ? (
        <PlaceField label="Title" text={job.title ?? ''} maxLength={MAX_TITLE_CHARS} save={save} close={close} />
      ) : (
        <bdi>{jobName(job)}</bdi>
      )}{' '}
      <Badge>{job.status}</Badge>
    </>
  );
}

/** Buttons that begin to edit the title, or a new tag; none where the key may not. */
export function NameButtons({ job, setEditing }: Omit<Editable, 'editing'>) {
  const { data: account } = useAccount();
  if (!account?.scopes.includes('jobs:write')) return null;
  return (
    <span className="name-buttons">
      <IconButton label="Rename" onPress={() => setEditing('title')}>
        <Pencil />
      </IconButton>
      {(job.tags ?? []).length < MAX_TAGS && (
        <IconButton label="Add a tag" onPress={() => setEditing('tag')}>
          <Tag />
        </IconButton>
      )}
    </span>
  );
}

/** The tags of a job, with the field of a new one. Nodes of an earlier release give none. */
export function JobTags({ job, editing, setEditing }: Editable) {
  const { data: account } = useAccount();
  const change = useChange(job.id);
  const tags = job.tags ?? [];
  const mayWrite = account?.scopes.includes('jobs:write') ?? false;
  if (tags.length === 0 && editing !== 'tag') return null;
  const remove = (tag: string, event: MouseEvent) => {
    neighbour(event.currentTarget)?.focus();
    void change({ tags: tags.filter((other) => other !== tag) });
  };
  const add = (tag: string) => {
    if (tag !== '' && !tags.includes(tag)) void change({ tags: [...tags, tag] });
  };
  return (
    <TagLinks
      tags={tags}
      after={(tag) =>
        mayWrite && (
          <button type="button" aria-label={`Remove the tag ${tag}`} onClick={(event) => remove(tag, event)}>
            <X />
          </button>
        )
      }
    >
      {editing === 'tag' && (
        <li>
          <PlaceField label="New tag" text="" maxLength={MAX_TAG_CHARS} save={add} close={() => setEditing(null)} />
        </li>
      )}
    </TagLinks>
  );
}

/** The button that removes the next tag, or the one before, or else the last button of the header. */
function neighbour(button: Element): HTMLElement | undefined {
  const buttons = [...button.closest('ul')!.querySelectorAll('button')];
  const at = buttons.indexOf(button as HTMLButtonElement);
  const header = [...document.querySelectorAll<HTMLElement>('.name-buttons button')];
  return buttons[at + 1] ?? buttons[at - 1] ?? header.at(-1);
}
