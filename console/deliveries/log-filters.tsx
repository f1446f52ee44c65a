import { FilterRange } from '../app/filter-range.tsx';
import { FilterSelect, Filters, FilterText } from '../app/filters.tsx';
import { EVENT_TYPES } from '../event-types.ts';
import { FAILURE_REASONS, reasonTitle } from './failure-advice.ts';

/** The filters of the delivery log, each a parameter of the API of the same name. */
export function LogFilters() {
  return (
    <Filters>
      <FilterText name="event_id" label="Event id" />
      <FilterSelect name="status" label="Status" values={['succeeded', 'failed', 'pending', 'dropped']} />
      <FilterSelect name="event_type" label="Event" values={EVENT_TYPES} />
      <FilterSelect name="reason" label="Reason" values={FAILURE_REASONS.map((name) => [name, reasonTitle(name)])} />
      <FilterSelect name="status_class" label="Answer" values={['2xx', '3xx', '4xx', '5xx']} />
      <FilterSelect name="attempt" label="Attempt" values={['1', '2', '3', '4']} />
      <FilterRange />
    </Filters>
  );
}
