import { useSearchParams } from 'react-router';

/**
 * A parameter of the address as a state, such as a filter. The other parameters stay, and the history gets no entry.
 * @returns the value, null if the address does not have it, and its setter: an empty value removes it
 */
export function useAddressParam(key: string): [string | null, (value: string | null) => void] {
  const [params, setParams] = useSearchParams();
  const set = (value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(key, value);
        else next.delete(key);
        return next;
      },
      { replace: true },
    );
  return [params.get(key), set];
}
