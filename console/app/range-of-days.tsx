import { ChevronLeft, ChevronRight } from 'lucide-react';
import {
  Button,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  Heading,
  RangeCalendar,
} from 'react-aria-components/RangeCalendar';
import { AriaDialog } from '../ui/aria/parts.ts';

/** A dialog with a calendar. @param onChoose  gets the start of the first and the end of the last day */
export default function RangeOfDays({
  utc,
  onClose,
  onChoose,
}: {
  utc: boolean;
  onClose: () => void;
  onChoose: (start: Date, end: Date) => void;
}) {
  const zone = utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <AriaDialog title="Days" onClose={onClose} look="narrow">
      <RangeCalendar
        aria-label="Days"
        className="calendar"
        onChange={({ start, end }) => onChoose(start.toDate(zone), end.add({ days: 1 }).toDate(zone))}
      >
        <header>
          <Button slot="previous" className="button quiet icon-only">
            <ChevronLeft />
          </Button>
          <Heading />
          <Button slot="next" className="button quiet icon-only">
            <ChevronRight />
          </Button>
        </header>
        <CalendarGrid>
          <CalendarGridHeader>{(day) => <CalendarHeaderCell>{day}</CalendarHeaderCell>}</CalendarGridHeader>
          <CalendarGridBody>{(date) => <CalendarCell date={date} className="day-cell" />}</CalendarGridBody>
        </CalendarGrid>
      </RangeCalendar>
    </AriaDialog>
  );
}
