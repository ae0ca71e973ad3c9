import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { api } from '../../api/client.js';
import { Page } from '../../parts/page.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { RulesForm } from './rules-form.js';

/** Shows the rules and the alerts of a keyword. */
export function Component() {
  const { id = '' } = useParams();
  const query = useQuery({
    queryKey: ['/v1/keywords', id, 'rules'],
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
        {({ keyword, channels }) => <RulesForm key={keyword.version} keyword={keyword} channels={channels} />}
      </Loaded>
    </Page>
  );
}
