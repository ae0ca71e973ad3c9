import { Button, Group } from '@mantine/core';
import { Radar, SearchX } from 'lucide-react';
import { Link } from 'react-router';
import { Empty } from '../../parts/states.js';
import { FailingChecks } from './failing-checks.js';
import { isNarrowed, NO_FILTERS, type FeedFilters } from './feed-filters.js';

interface Props {
  filters: FeedFilters;
  onReset: (changes: Partial<FeedFilters>) => void;
}

/** Shows why the feed has no mentions. */
export default function NoMentions(props: Props) {
  return (
    <>
      <FailingChecks filters={props.filters} />
      <Explanation {...props} />
    </>
  );
}

/** Explains why the list is empty, and what the member can do. */
function Explanation({ filters, onReset }: Props) {
  if (isNarrowed(filters))
    return (
      <Empty
        icon={SearchX}
        title="No mention fits these filters"
        action={
          <Button variant="default" onClick={() => onReset(NO_FILTERS)}>
            Remove the filters
          </Button>
        }
      >
        Choose a longer period, or remove a filter. Dropped and hidden mentions appear only if the filters
        include them.
      </Empty>
    );
  return (
    <Empty
      icon={Radar}
      title="No mentions in this period"
      action={
        <Group justify="center">
          <Button component={Link} to="/start">
            Watch a brand
          </Button>
          <Button component={Link} to="/keywords" variant="default">
            See your keywords
          </Button>
        </Group>
      }
    >
      New mentions appear here as soon as they are found. For older mentions, choose a longer period.
    </Empty>
  );
}
