import { api } from './client.js';

/**
 * The filters that members have saved for all members of the account. `query` is the query string of the
 * feed's address.
 */
export const listViews = (signal: AbortSignal) => api.get('/v1/views', { signal });

export const saveView = (body: { name: string; query: string }) => api.post('/v1/views', { body });

export const deleteView = (id: string) => api.delete('/v1/views/{id}', { path: { id } });
