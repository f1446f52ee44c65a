import { useQueryClient } from '@tanstack/react-query';
import type { Job } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { say } from '../../../ui/toast.tsx';

/** The title and the tags of a job, or one of both. */
type Names = Partial<Pick<Job, 'title' | 'tags'>>;

/** A function that changes the names of a job: at once in the view, and then in the service, which may refuse them. */
export function useChange(id: string): (names: Names) => Promise<void> {
  const client = useQueryClient();
  const show = (names: Names) => client.setQueryData<Job>(['job', id], (job) => job && { ...job, ...names });
  return async (names) => {
    show(names);
    try {
      const { title, tags } = await api.jobs.update(id, names);
      show({ title, tags });
    } catch (error) {
      say(problemOf(error).message);
      void client.invalidateQueries({ queryKey: ['job', id], exact: true });
    }
    void client.invalidateQueries({ queryKey: ['jobs'] });
  };
}
