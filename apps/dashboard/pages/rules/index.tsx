import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'react-router';
import { api } from '../../api/client.js';
import { Page } from '../../parts/page.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { RulesForm } from './rules-form.js';

/** Shows the rules and the alerts of a keyword. */
export function Component() {
  const { id = '' } = useParams();
  const queryKey = ['/v1/keywords', id, 'rules'];
  const queries = useQueryClient();
  // The form begins again only after its own save. Another version of the keyword, for example after another member has
  // paused it, must not replace the text that the member is typing.
  const [saves, setSaves] = useState(0);
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const keyword = await api.get('/v1/keywords/{id}', { path: { id }, signal });
      const channels: { id: string; name: string }[] = [];
      for await (const { id: channelId, name } of api.paginate('/v1/channels', {
        query: { limit: 200 },
        signal,
      }))
        channels.push({ id: channelId, name });
      return { keyword, channels };
    },
    // A later read must not replace the text that the member is typing.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
  return (
    <Page
      title="Rules and alerts"
      back={{ to: `/keywords/${id}`, label: query.data?.keyword.name ?? 'Keyword' }}
      lead="Rules about a mention run in order on each new mention, after its readings. Rules about volume or sentiment, and the spike alert, depend on the number of mentions in a period."
    >
      <Loaded query={query} loading={<LoadingRows rows={3} height={160} />}>
        {({ keyword, channels }) => (
          <RulesForm
            key={`${id} ${saves}`}
            {...{ keyword, channels }}
            onSaved={(saved) => {
              queries.setQueryData(queryKey, { keyword: saved, channels });
              setSaves(saves + 1);
            }}
          />
        )}
      </Loaded>
    </Page>
  );
}
