import { api } from './client.js';

/**
 * Reads the views: filters that a member has saved for all members of the account. `query` is the query string of the
 * feed's address.
 */
export const listViews = (signal: AbortSignal) => api.get('/v1/views', { signal });

/** Saves a view. */
export const saveView = (body: { name: string; query: string }) => api.post('/v1/views', { body });

/** Deletes a view. */
export const deleteView = (id: string) => api.delete('/v1/views/{id}', { path: { id } });
