/** A line chart of a few counts, without axes. The page shows the figures beside it. */
export function Sparkline({
  counts,
  width = 96,
  height = 26,
}: {
  counts: readonly number[];
  width?: number;
  height?: number;
}) {
  const max = Math.max(1, ...counts);
  const step = width / Math.max(1, counts.length - 1);
  const points = counts
    .map((n, index) => `${index * step},${height - 2 - (n / max) * (height - 4)}`)
    .join(' ');
  return (
    <svg width={width} height={height} aria-hidden style={{ display: 'block', overflow: 'visible' }}>
      <polyline
        points={points}
        fill="none"
        stroke="var(--mantine-color-earshot-5)"
        strokeWidth="1.6"
        strokeLinejoin="round"
      />
    </svg>
  );
}
