import { useQuery } from '@tanstack/react-query';
import { useParams, useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { beginningOf } from '../../parts/format.js';
import { Page } from '../../parts/page.js';
import { SOURCES } from '../../api/values.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { draftOf, emptyDraft } from './draft.js';
import { Editor } from './editor.js';

/** Creates a keyword (`?name=&query=&source=` fill the form) or a copy (`?from=`), or changes a keyword. */
export function Component() {
  const { id } = useParams();
  const [params] = useSearchParams();
  const origin = id ?? params.get('from') ?? undefined;
  const keyword = useQuery({
    queryKey: ['/v1/keywords', origin, 'edit'],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}', { path: { id: origin ?? '' }, signal }),
    enabled: origin !== undefined,
    // A refetch must not replace the text that the member is typing.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (origin === undefined)
    return (
      <Page title="New keyword" back={{ to: '/keywords', label: 'Keywords' }}>
        <Editor stored={undefined} initial={suggestedDraft(params)} />
      </Page>
    );
  const back = id
    ? { to: `/keywords/${id}`, label: keyword.data?.name ?? 'Keyword' }
    : { to: '/keywords', label: 'Keywords' };
  return (
    <Page title={id ? 'Edit keyword' : 'Copy of a keyword'} back={back}>
      <Loaded query={keyword} loading={<LoadingRows rows={5} height={140} />}>
        {(found) => (
          <Editor stored={id ? found : undefined} initial={id ? draftOf(found) : copyOf(draftOf(found))} />
        )}
      </Loaded>
    </Page>
  );
}

/** Returns the draft that another page suggests: the words and sources of an Explore. */
function suggestedDraft(params: URLSearchParams): ReturnType<typeof emptyDraft> {
  const draft = emptyDraft();
  const wanted = params.getAll('source');
  return {
    ...draft,
    name: beginningOf(params.get('name') ?? '', 80),
    globalCriteria: { ...draft.globalCriteria, query: params.get('query') ?? '' },
    sources: SOURCES.filter((source) => wanted.includes(source)).map((source) => ({
      source,
      enabled: true,
      searches: [],
    })),
  };
}

/** Returns a copy of a draft without the ids of searches and rules, because the ids belong to the original. */
function copyOf(draft: ReturnType<typeof draftOf>): typeof draft {
  return {
    ...draft,
    name: beginningOf(`${draft.name} (copy)`, 80),
    sources: draft.sources.map((entry) => ({
      ...entry,
      searches: entry.searches.map(({ id: _id, ...search }) => search),
    })),
    rules: draft.rules.map((rule) => ({ ...rule, id: undefined })),
  };
}
