import { Alert, List } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ShieldAlert, ShieldCheck } from 'lucide-react';
import { api } from '../../api/client.js';
import { plural } from '../../parts/format.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';

/** Shows whether the ledger agrees with the balance and the usage. */
export function AuditVerdict() {
  const query = useQuery({
    queryKey: ['/v1/credits/audit'],
    queryFn: ({ signal }) => api.get('/v1/credits/audit', { signal }),
  });
  return (
    <Loaded query={query} loading={<LoadingRows rows={1} height={64} />}>
      {({ consistent, faults, movements, checkedAt }) => (
        <Alert
          color={consistent ? 'teal' : 'red'}
          icon={consistent ? <ShieldCheck size={18} aria-hidden /> : <ShieldAlert size={18} aria-hidden />}
          title={consistent ? 'The ledger is consistent' : 'The ledger is not consistent'}
          role="status"
        >
          {consistent ? (
            `${plural(movements, 'movement agrees', 'movements agree')} with the balance and with the usage of this period. `
          ) : (
            <List size="sm" mb="xs">
              {faults.map((fault) => (
                <List.Item key={fault}>{fault}</List.Item>
              ))}
            </List>
          )}
          Checked <Time at={checkedAt} />. The operator’s command <code>credits audit</code> also computes
          each movement again from the stored messages.
        </Alert>
      )}
    </Loaded>
  );
}
