import { api } from './client.js';

/** Filters that a member has saved for all members of the account. */
export interface View {
  id: string;
  name: string;
  /** The query of the feed's address. */
  query: string;
}

export const listViews = (signal: AbortSignal) =>
  api.get('/v1/views' as never, { signal } as never) as unknown as Promise<{ data: View[] }>;
export const saveView = (body: Pick<View, 'name' | 'query'>) =>
  api.post('/v1/views' as never, { body } as never);
export const deleteView = (id: string) => api.delete('/v1/views/{id}' as never, { path: { id } } as never);
